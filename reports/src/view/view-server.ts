import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, PerwattError } from '@perwatt/core';
import type { RunWatch } from './run-watch.js';
import { viewPage, viewPolicy } from './view-page.js';
import type { WatchState } from './watch-types.js';

export interface ViewOptions {
  readonly watch: RunWatch;
  /** Part of every address: who doesn't know it gets nothing. */
  readonly token: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Time between looks, ms, while somebody looks. */
  readonly period_ms: number;
}

/** A server that shows a run on this machine. */
export interface ViewServer {
  readonly url: string;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';
const MOST_CLIENTS = 16;

const headers = {
  'Content-Security-Policy': viewPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

/**
 * Serves the page, the state (`state`) and its changes (`events`) on the loopback interface alone, below `/<token>/`. Requests
 * with another `Host` than its own are refused, so that no page elsewhere can point a name at it; so are other methods than
 * GET. It looks at the run only while somebody looks at it. Throws `INPUT_INVALID` when the port is taken.
 */
export async function startViewServer({ watch, token, port, period_ms }: ViewOptions): Promise<ViewServer> {
  const clients = new Set<ServerResponse>();
  let timer: NodeJS.Timeout | null = null;
  let known: { readonly text: string; readonly at: number } | null = null;

  const look = (): string => {
    const now = performance.now();
    if (known !== null && now - known.at < period_ms / 2) return known.text;
    const text = stateText(watch);
    known = { text, at: now };
    return text;
  };
  const tell = () => {
    const text = look();
    for (const client of clients) if (client.writableLength === 0) client.write(`data: ${text}\n\n`);
  };
  const leave = (client: ServerResponse) => {
    clients.delete(client);
    if (clients.size === 0 && timer !== null) clearInterval(timer);
    if (clients.size === 0) timer = null;
  };
  const join = (response: ServerResponse) => {
    response.writeHead(200, { ...headers, 'Content-Type': 'text/event-stream' });
    clients.add(response);
    response.on('close', () => leave(response));
    response.write(`data: ${look()}\n\n`);
    timer ??= setInterval(tell, period_ms);
  };

  const server = createServer((request, response) => {
    const place = placeOf(request, { token, port: (server.address() as AddressInfo).port });
    if (typeof place === 'number') refuse(response, place);
    else if (place === 'page') send(response, 'text/html; charset=utf-8', viewPage);
    else if (place === 'state') send(response, 'application/json', look());
    else if (clients.size < MOST_CLIENTS) join(response);
    else refuse(response, 503);
  });
  server.headersTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new PerwattError('INPUT_INVALID', `port ${port} cannot be listened on: ${messageOf(cause)}`, {
          hint: 'Give another one with `--port`, or none.',
          cause,
        }),
      ),
    );
    server.listen(port, LOOPBACK, resolve);
  });
  const own = (server.address() as AddressInfo).port;
  return {
    url: `http://${LOOPBACK}:${own}/${token}/`,
    close: () =>
      new Promise((resolve) => {
        if (timer !== null) clearInterval(timer);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The state as one line of JSON; a run that can't be read at the moment says why, and nothing ends. */
function stateText(watch: RunWatch): string {
  try {
    const state: WatchState = watch.look();
    return JSON.stringify(state);
  } catch (error) {
    return JSON.stringify({ error: messageOf(error) });
  }
}

interface Own {
  readonly token: string;
  readonly port: number;
}

/** What a request asks for, or the status that refuses it. */
function placeOf(request: IncomingMessage, { token, port }: Own): 'page' | 'state' | 'events' | number {
  const host = request.headers.host ?? '';
  if (host !== `${LOOPBACK}:${port}` && host !== `localhost:${port}`) return 403;
  if (request.method !== 'GET') return 405;
  const [, given = '', place, ...more] = (request.url ?? '').split('?')[0]?.split('/') ?? [];
  if (!isSame(given, token) || more.length > 0) return 404;
  const places = { '': 'page', state: 'state', events: 'events' } as const;
  return place !== undefined && Object.hasOwn(places, place) ? places[place as keyof typeof places] : 404;
}

/** Compares without telling by its time where two texts part. */
function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function send(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { ...headers, 'Content-Type': type });
  response.end(text);
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...headers, 'Content-Type': 'text/plain' });
  response.end(`${status}\n`);
}
