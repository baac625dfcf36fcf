import type { IncomingMessage } from 'node:http';
import { type EngineAsk, type EngineHost, type EngineStatus, messageOf, PerwattError } from '@perwatt/core';
import { object, text } from './agent-fields.js';

/** What a page is answered with. */
export interface AgentAnswer {
  readonly status: number;
  readonly body: object;
}

const mostBytes = 65_536;
const refusal = (status: number, error: string): AgentAnswer => ({ status, body: { error } });

/** Whether a path is one of the engines' pages. */
export const isEnginePage = (path: string): boolean => path.startsWith('/v1/engines/');

/**
 * Answers `POST /v1/engines/start` and `/stop` and `GET /v1/engines/status?session=`. Without a host of engines, or for
 * what it does not allow, the answer is 403: nothing of a request is ever executed, it only names what the agent's own file
 * holds.
 *
 * @param host null on an agent that was started without leave to start engines
 */
export async function engineAnswer(
  request: IncomingMessage,
  url: URL,
  host: EngineHost | null,
): Promise<AgentAnswer> {
  if (host === null)
    return refusal(403, 'this agent starts no engines: it was started without `--allow-engines`');
  const page = pages[`${request.method} ${url.pathname.slice('/v1/engines/'.length)}`];
  if (page === undefined)
    return refusal(404, 'no such page; there are start and stop by POST, and status by GET');
  try {
    const status = await page(host, url, request);
    return status === null ? refusal(404, 'no such session') : { status: 200, body: status };
  } catch (error) {
    const forbidden = error instanceof PerwattError && error.code === 'SERVER_FAILED';
    return refusal(forbidden ? 403 : 400, messageOf(error));
  }
}

type EnginePage = (
  host: EngineHost,
  url: URL,
  request: IncomingMessage,
) => Promise<EngineStatus | null> | EngineStatus | null;

const pages: Readonly<Record<string, EnginePage>> = {
  'GET status': (host, { searchParams }) => host.status(searchParams.get('session') ?? ''),
  'POST start': async (host, _, request) => host.start(askOf(await bodyOf(request))),
  'POST stop': async (host, _, request) =>
    host.stop(text(object(await bodyOf(request))['session'], 'session')),
};

function askOf(body: string): EngineAsk {
  const asked = object(body);
  return {
    engine: text(asked['engine'], 'engine'),
    model: text(asked['model'], 'model'),
    name: text(asked['name'], 'name'),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > mostBytes)
      throw new PerwattError('INPUT_INVALID', `the body has more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
