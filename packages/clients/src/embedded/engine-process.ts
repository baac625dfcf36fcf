import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type CallInput, type Clock, PerwattError, type Sampling } from '@perwatt/core';
import { ggufProblem } from '../weights/gguf-header.js';
import type { EngineAnswer, EngineFacts, EngineOptions, FromEngine, ToEngine } from './protocol.js';

/** Built file of the engine's process; found alike from the sources and from the built client. */
const childPath = fileURLToPath(new URL('../../dist/embedded/engine-child.js', import.meta.url));
const SAID_CHARS = 2000;

/** One call in the engine's process. */
interface EngineCall {
  /** Resolves with the answer, or with why the process ended before there was one. */
  readonly ended: Promise<EngineAnswer | { readonly gone: string }>;
  /** Asks the engine to stop after the token at hand. */
  cancel(): void;
}

/** A process with a loaded model. */
export interface EngineProcess {
  readonly pid: number;
  readonly facts: EngineFacts;
  /** What to add to the engine's stamps to have them on the run's clock, ns; 0 where both are one clock. */
  readonly offset_ns: bigint;
  /** Why the process is gone, or null while it lives. */
  gone(): string | null;
  call(input: CallInput, sampling: Sampling, onDelta?: (text: string) => void): EngineCall;
}

interface Pending {
  readonly onDelta: ((text: string) => void) | undefined;
  readonly resolve: (ended: EngineAnswer | { readonly gone: string }) => void;
}

/** A process on its way to a loaded model. */
export interface StartingEngine {
  /** Rejects with `ENGINE_MISSING` where the engine's library isn't installed, `ENGINE_FAILED` where the model doesn't load. */
  readonly ready: Promise<EngineProcess>;
  /** Ends the process, loaded or not, and waits until it is gone. */
  kill(): Promise<void>;
}

/**
 * Starts the process and has it load the model. Throws `BUILD_MISSING` where the built file is not there and `ENGINE_FAILED` for
 * what is no weight file.
 */
export function startEngine(options: EngineOptions, clock: Clock): StartingEngine {
  if (!existsSync(childPath)) throw new PerwattError('BUILD_MISSING', `${childPath} is not there`);
  const problem = ggufProblem(options.modelPath);
  if (problem !== null)
    throw new PerwattError('ENGINE_FAILED', `the engine does not load ${options.modelPath}: ${problem}`);
  const child = fork(childPath, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  });
  const pending = new Map<number, Pending>();
  const line = openLine(child, pending);
  const kill = () => end(child, line);
  return { ready: becomeReady(), kill };

  async function becomeReady(): Promise<EngineProcess> {
    try {
      const facts = await loadModel(line, options);
      const offset_ns = await clockOffset(line, clock);
      const calling = callsOf(line, pending);
      return { pid: child.pid ?? 0, facts, offset_ns, gone: line.gone, call: calling };
    } catch (error) {
      await kill();
      throw error;
    }
  }
}

/** The channel to a child: answers to calls go to `pending`, anything else to whoever waits for it. */
interface Line {
  send(message: ToEngine): void;
  /** The next message that answers no call; null once the process is gone. */
  next(): Promise<FromEngine | null>;
  gone(): string | null;
  readonly over: Promise<void>;
}

function openLine(child: ChildProcess, pending: Map<number, Pending>): Line {
  let gone: string | null = null;
  let said = '';
  let wake: ((message: FromEngine | null) => void) | null = null;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-SAID_CHARS);
  });
  child.on('message', (message) => {
    const from = message as FromEngine;
    if (from.kind === 'delta') pending.get(from.id)?.onDelta?.(from.text);
    else if (from.kind === 'answer') settle(pending, from.id, from.answer);
    else wake?.(from);
  });
  const over = new Promise<void>((resolve) => {
    const finish = (how: string) => {
      gone ??= [`the engine's process ended (${how})`, said.trim()].filter((part) => part !== '').join(': ');
      for (const id of [...pending.keys()]) settle(pending, id, { gone });
      wake?.(null);
      resolve();
    };
    child.on('error', (error) => finish(error.message));
    child.on('close', (code, signal) => finish(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  return {
    send: (message) => void (child.connected && child.send(message, () => {})),
    next: () =>
      gone === null
        ? new Promise((resolve) => {
            wake = resolve;
          })
        : Promise.resolve(null),
    gone: () => gone,
    over,
  };
}

function settle(pending: Map<number, Pending>, id: number, ended: EngineAnswer | { readonly gone: string }) {
  pending.get(id)?.resolve(ended);
  pending.delete(id);
}

async function loadModel(line: Line, options: EngineOptions): Promise<EngineFacts> {
  line.send({ kind: 'open', options });
  const reply = await line.next();
  if (reply?.kind === 'opened') return reply.facts;
  const { code, message } =
    reply?.kind === 'failed'
      ? reply
      : ({ code: 'ENGINE_FAILED', message: line.gone() ?? 'no answer' } as const);
  throw new PerwattError(code, `the engine does not load ${options.modelPath}: ${message}`);
}

/** Tells whether the engine stamps on the run's clock, by a stamp that must lie between two of ours. */
async function clockOffset(line: Line, clock: Clock): Promise<bigint> {
  const before = clock.now();
  line.send({ kind: 'clock' });
  const reply = await line.next();
  const after = clock.now();
  if (reply?.kind !== 'clock')
    throw new PerwattError('ENGINE_FAILED', line.gone() ?? 'the engine has no clock');
  if (reply.at_ns >= before && reply.at_ns <= after) return 0n;
  return before + (after - before) / 2n - reply.at_ns;
}

function callsOf(line: Line, pending: Map<number, Pending>): EngineProcess['call'] {
  let calls = 0;
  return (input, sampling, onDelta) => {
    const id = calls;
    calls += 1;
    const gone = line.gone();
    const ended =
      gone === null
        ? new Promise<EngineAnswer | { readonly gone: string }>((resolve) => {
            pending.set(id, { onDelta, resolve });
          })
        : Promise.resolve({ gone });
    line.send({ kind: 'call', id, input, sampling, deltas: onDelta !== undefined });
    return { ended, cancel: () => line.send({ kind: 'cancel', id }) };
  };
}

function end(child: ChildProcess, line: Line): Promise<void> {
  child.kill('SIGKILL');
  return line.over;
}
