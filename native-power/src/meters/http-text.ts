import * as http from 'node:http';
import * as https from 'node:https';
import { PerwattError } from '@perwatt/core';

export interface HttpTextOptions {
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Keeps the connection open between readings. */
  readonly agent: http.Agent;
}

const mostBytes = 4 << 20;

/** A pool of one connection for a meter's address, kept open between readings. */
export const connectionTo = (url: URL): http.Agent => {
  const options = { keepAlive: true, maxSockets: 1 };
  return url.protocol === 'https:' ? new https.Agent(options) : new http.Agent(options);
};

/** The text that a GET is answered with. Rejects with `POWER_IO`: no answer, a status other than 200, more than 4 MiB. */
export function httpText({ url, headers = {}, signal, agent }: HttpTextOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) =>
      reject(new PerwattError('POWER_IO', `${url.origin}${url.pathname}: ${why}`, { cause }));
    const get = url.protocol === 'https:' ? https.get : http.get;
    const request = get(url, { headers, signal, agent }, (response) => {
      const parts: Buffer[] = [];
      let size = 0;
      response.on('data', (part: Buffer) => {
        size += part.length;
        parts.push(part);
        if (size > mostBytes) response.destroy(new Error(`answered more than ${mostBytes} bytes`));
      });
      response.on('error', (error) => fail(reasonOf(error, signal), error));
      response.on('end', () => {
        if (response.statusCode !== 200) return fail(`answered ${response.statusCode}`);
        resolve(Buffer.concat(parts).toString('utf8'));
      });
    });
    request.on('error', (error) => fail(reasonOf(error, signal), error));
  });
}

/** What a failed connection says of itself, on one line. */
export function reasonOf(error: Error, signal: AbortSignal): string {
  if (signal.aborted) return signal.reason?.name === 'TimeoutError' ? 'no answer in time' : 'stopped';
  const { code } = error as NodeJS.ErrnoException;
  return error.message || (code ?? 'the connection failed');
}
