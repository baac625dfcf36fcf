import { connect } from 'node:net';
import { PerwattError } from '@perwatt/core';
import { lineSplitter } from '../line-splitter.js';
import { type PtdSample, parseCount, parseRanges, parseSample } from './ptd-protocol.js';

export interface PtdAddress {
  readonly host: string;
  readonly port: number;
}

/** One conversation with the daemon: a command at a time, each answered by a line or more. */
export interface PtdConnection {
  /** Sends a command and returns its first line. */
  ask(command: string): Promise<string>;
  /** The next line. */
  line(): Promise<string>;
  close(): void;
}

const longestLine = 1 << 16;
const mostWaiting = 1_000_001;
const greeting = 'Hello, PTDaemon here!';

const failed = (why: string, cause?: unknown) => new PerwattError('POWER_IO', `PTDaemon: ${why}`, { cause });

/** Connects and exchanges greetings. Rejects with `POWER_IO`, and so does everything after `signal` aborts or a line takes longer than `timeout_ms`. */
export async function ptdConnect(
  { host, port }: PtdAddress,
  { signal, timeout_ms }: { readonly signal: AbortSignal; readonly timeout_ms: number },
): Promise<PtdConnection> {
  const socket = connect({ host, port });
  socket.setNoDelay(true);
  const splitter = lineSplitter(longestLine);
  const lines: string[] = [];
  let broken: Error | null = null;
  let waiting: ((error: Error | null) => void) | null = null;
  const wake = (error: Error | null) => {
    const settle = waiting;
    waiting = null;
    settle?.(error);
  };
  const breakOff = (why: string, cause?: unknown) => {
    broken ??= failed(why, cause);
    signal.removeEventListener('abort', onAbort);
    socket.destroy();
    wake(broken);
  };
  const onAbort = () => breakOff('stopped');
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  socket.on('data', (bytes) => {
    lines.push(...splitter.push(bytes));
    if (splitter.overlong > 0 || lines.length > mostWaiting) breakOff('its answer is no PTDaemon answer');
    else if (lines.length > 0) wake(null);
  });
  socket.on('error', (error) => breakOff(error.message || 'the connection failed', error));
  socket.on('close', () => breakOff('the connection was closed'));

  const arrival = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => breakOff('no answer in time'), timeout_ms);
      waiting = (error) => {
        clearTimeout(timer);
        if (error === null) resolve();
        else reject(error);
      };
    });
  const line = async (): Promise<string> => {
    while (lines.length === 0) {
      if (broken !== null) throw broken;
      await arrival();
    }
    return lines.shift() ?? '';
  };
  const ask = (command: string) => {
    if (broken !== null) return Promise.reject(broken);
    lines.length = 0;
    socket.write(`${command}\r\n`);
    return line();
  };
  const hello = await ask('Hello');
  if (hello !== greeting) {
    breakOff('closed');
    throw failed(`greeted with ${JSON.stringify(hello.slice(0, 80))}`);
  }
  return { ask, line, close: () => breakOff('closed') };
}

/** The meter's ranges, as what restores them; null when it doesn't say. */
export const readRanges = async (ptd: PtdConnection) => parseRanges(await ptd.ask('RR'));

const spellings = ['RL,*,*', 'RL', 'DC-RL'];

/** Reads what was sampled since the last call. Daemons differ in how they want to be asked; the way that worked is kept. */
export function sampleReader(ptd: PtdConnection, channels: number): () => Promise<PtdSample[]> {
  let spelling = 0;
  return async () => {
    for (;;) {
      const answer = await ptd.ask(spellings[spelling] ?? 'RL');
      const count = parseCount(answer);
      if (count !== null) return samples(ptd, { count, channels });
      const refused = /invalid number of parameters|unknown command/i.test(answer);
      if (!refused || spelling + 1 >= spellings.length) {
        throw failed(`no samples: ${JSON.stringify(answer.slice(0, 120))}`);
      }
      spelling += 1;
    }
  };
}

async function samples(
  ptd: PtdConnection,
  { count, channels }: { readonly count: number; readonly channels: number },
): Promise<PtdSample[]> {
  const found: PtdSample[] = [];
  for (let i = 0; i < count; i += 1) {
    const sample = parseSample(await ptd.line(), channels);
    if (sample !== null) found.push(sample);
  }
  return found;
}
