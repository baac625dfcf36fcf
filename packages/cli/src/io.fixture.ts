import { Readable } from 'node:stream';
import type { Io } from './io.js';

/** An `Io` that keeps what a command prints, in an empty world at the epoch, unless `world` says otherwise. */
export function recordedIo(world: Partial<Io> = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const drawn: string[] = [];
  const result = { out, err, drawn, code: 0 };
  const io: Io = {
    print: (line) => void out.push(line),
    printError: (line) => void err.push(line),
    draw: (text) => void drawn.push(text),
    stdin: Readable.from([]),
    env: {},
    cwd: '/',
    columns: null,
    wallTime: () => new Date(0),
    signal: new AbortController().signal,
    setExitCode: (code) => {
      result.code = code;
    },
    ...world,
  };
  return { io, result };
}
