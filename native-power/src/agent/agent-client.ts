import * as http from 'node:http';
import * as https from 'node:https';
import { PerwattError } from '@perwatt/core';
import { lineSplitter } from '../line-splitter.js';
import { connectionTo, httpText, reasonOf } from '../meters/http-text.js';
import { type AgentFacts, type AgentLine, parseAgentLine, parseFacts, parsePong } from './agent-protocol.js';

export interface AgentAddress {
  readonly url: string;
  readonly token: string;
}

export interface StreamOptions {
  readonly source: string;
  readonly period_ns: number;
  readonly signal: AbortSignal;
  readonly onLine: (line: AgentLine) => void;
}

/** One agent, asked over HTTP. Everything rejects with `POWER_IO` when it can't be reached and `POWER_MALFORMED` when it isn't one. */
export interface AgentClient {
  facts(signal: AbortSignal): Promise<AgentFacts>;
  /** The agent's time, ns on its monotonic clock. */
  ping(signal: AbortSignal): Promise<bigint>;
  /** Follows a source until the agent ends it; rejects when it breaks off, falls silent or `signal` aborts. */
  follow(options: StreamOptions): Promise<void>;
}

const wait_ms = 5000;
/** An agent sends a line at least every quarter of a second. */
const silence_ms = 5000;
const longestLine = 64 << 20;

const within = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(wait_ms)]);

export function agentClient({ url, token }: AgentAddress): AgentClient {
  const base = new URL(url);
  const headers = { authorization: `Bearer ${token}` };
  const agent = connectionTo(base);
  const page = (path: string) => new URL(path, base);
  return {
    facts: async (signal) =>
      parseFacts(await httpText({ url: page('/v1/facts'), headers, signal: within(signal), agent })),
    ping: async (signal) =>
      parsePong(await httpText({ url: page('/v1/ping'), headers, signal: within(signal), agent })),
    follow({ source, period_ns, signal, onLine }) {
      const address = page('/v1/samples');
      address.searchParams.set('source', source);
      address.searchParams.set('period_ns', String(period_ns));
      let size = { domains: 0, channels: 0 };
      return follow(address, {
        headers,
        signal,
        onLines(text) {
          const line = parseAgentLine(text, size);
          if (line.kind === 'begin') size = { domains: line.domains.length, channels: line.channels.length };
          onLine(line);
        },
      });
    },
  };
}

interface Following {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** May throw, which ends the stream. */
  readonly onLines: (line: string) => void;
}

function follow(url: URL, { headers, signal, onLines }: Following): Promise<void> {
  return new Promise((resolve, reject) => {
    const splitter = lineSplitter(longestLine);
    const get = url.protocol === 'https:' ? https.get : http.get;
    const broken = (why: string, cause?: unknown) =>
      new PerwattError('POWER_IO', `${url.origin}: ${why}`, { cause });
    const request = get(url, { headers, signal, agent: false, timeout: silence_ms }, (response) => {
      if (response.statusCode !== 200) {
        request.destroy();
        return reject(broken(`answered ${response.statusCode}`));
      }
      response.on('data', (bytes: Buffer) => {
        try {
          for (const line of splitter.push(bytes)) onLines(line);
          if (splitter.overlong > 0) throw broken('sent a line without an end');
        } catch (error) {
          request.destroy();
          reject(error);
        }
      });
      response.on('end', resolve);
      response.on('error', (error) => reject(broken(reasonOf(error, signal), error)));
      response.on('close', () => reject(broken('the connection was closed')));
    });
    request.on('timeout', () => request.destroy(new Error('fell silent')));
    request.on('error', (error) => reject(broken(reasonOf(error, signal), error)));
  });
}
