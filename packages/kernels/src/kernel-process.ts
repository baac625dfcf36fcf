import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { PerwattError } from '@perwatt/core';
import { addonPath } from './addon.js';
import { KernelEvent, type KernelRequest } from './protocol.js';

/** Program that answers requests: reads one as JSON on its standard input, writes events to its file descriptor 3. */
export interface KernelProgram {
  readonly file: string;
  readonly args: readonly string[];
}

/** Our own program, which drives devices through the addon in the file `addon`. Found alike from the sources and from the built package. */
export function kernelProgram(addon: string = addonPath): KernelProgram {
  const path = fileURLToPath(new URL('../dist/kernels-child.js', import.meta.url));
  if (!existsSync(path)) throw new PerwattError('BUILD_MISSING', `${path} is not there`);
  return { file: process.execPath, args: [path, addon] };
}

/** How a program ended. */
export interface KernelProcessEnd {
  readonly how: 'ended' | 'crashed' | 'timed_out' | 'interrupted';
  /** In words, with the end of what it said; null when it ended as it should. */
  readonly reason: string | null;
}

export interface KernelProcessOptions {
  readonly program: KernelProgram;
  /** Environment of the program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Silence after which it is taken to hang, and killed, ms. */
  readonly deadline_ms: number;
  readonly signal: AbortSignal;
  /** Told of every event, in order. What it throws ends the program, and is thrown on. */
  readonly onEvent: (event: KernelEvent) => void;
}

const SAID_CHARS = 1500;
/** Time that a process which has ended may leave its pipes open, by processes of its own. */
const PIPES_MS = 2000;

/** What is known of a program while it runs. */
interface Watch {
  stopped: Exclude<KernelProcessEnd['how'], 'ended'> | null;
  /** Why it was stopped, where that is its own fault. */
  fault: string | null;
  done: boolean;
  thrown: { readonly error: unknown } | null;
}

/**
 * Asks a program of its own process, so that a driver that hangs or aborts takes nothing else down. Resolves however it ends;
 * a hang is ended by force. Only what `onEvent` throws is thrown.
 */
export async function askProcess(
  request: KernelRequest,
  options: KernelProcessOptions,
): Promise<KernelProcessEnd> {
  const { program, env, deadline_ms, signal, onEvent } = options;
  if (signal.aborted) return interrupted;
  const child = spawn(program.file, [...program.args], {
    env: { ...env },
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  });
  const watch: Watch = { stopped: null, fault: null, done: false, thrown: null };
  const said = tailOf(child);
  const ended = endOf(child);
  const stop = (how: NonNullable<Watch['stopped']>) => {
    watch.stopped ??= how;
    child.kill('SIGKILL');
  };
  const interrupt = () => stop('interrupted');
  const timer = setTimeout(() => stop('timed_out'), deadline_ms);
  signal.addEventListener('abort', interrupt);
  child.stdin?.on('error', () => {});
  child.stdin?.end(JSON.stringify(request));
  const take = (line: string) => {
    if (watch.stopped !== null) return;
    timer.refresh();
    if (!taken(line, { watch, onEvent })) stop('crashed');
  };
  try {
    await Promise.all([readLines(child, take), ended]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', interrupt);
  }
  if (watch.thrown !== null) throw watch.thrown.error;
  return endedAs(watch, { words: await ended, deadline_ms, said: said() });
}

const interrupted: KernelProcessEnd = { how: 'interrupted', reason: 'interrupted' };

/** Hands one line on. False where the program has to be stopped for it. */
function taken(
  line: string,
  { watch, onEvent }: { watch: Watch } & Pick<KernelProcessOptions, 'onEvent'>,
): boolean {
  let event: KernelEvent;
  try {
    event = KernelEvent.parse(JSON.parse(line));
  } catch {
    watch.fault = `it said what is no event: ${line.slice(0, 200)}`;
    return false;
  }
  watch.done ||= event.event === 'done';
  try {
    onEvent(event);
    return true;
  } catch (error) {
    watch.thrown = { error };
    return false;
  }
}

interface Ending {
  readonly words: string | null;
  readonly deadline_ms: number;
  readonly said: string;
}

function endedAs({ stopped, fault, done }: Watch, { words, deadline_ms, said }: Ending): KernelProcessEnd {
  if (stopped === 'interrupted') return interrupted;
  if (stopped === null && done && words === null) return { how: 'ended', reason: null };
  const how = stopped ?? 'crashed';
  const early = `its process ended early (${words ?? 'exit code 0'})`;
  const silent = `nothing was heard of it for ${deadline_ms / 1000} s, so it was killed`;
  const what = how === 'timed_out' ? silent : (fault ?? early);
  return { how, reason: said === '' ? what : `${what}: ${said}` };
}

/** How a process ended, in words; null for exit code 0. */
const endOf = (child: ChildProcess): Promise<string | null> =>
  new Promise((resolve) => {
    child.on('error', (error) => {
      for (const stream of child.stdio) stream?.destroy();
      resolve(error.message);
    });
    child.on('exit', () => {
      const cut = setTimeout(() => {
        for (const stream of child.stdio) stream?.destroy();
      }, PIPES_MS);
      child.on('close', () => clearTimeout(cut));
    });
    child.on('close', (code, signal) => {
      resolve(signal !== null ? `signal ${signal}` : code === 0 ? null : `exit code ${code}`);
    });
  });

function tailOf(child: ChildProcess): () => string {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-SAID_CHARS);
  });
  return () => said.trim();
}

/** Reads the lines of file descriptor 3 until it is closed. */
function readLines(child: ChildProcess, take: (line: string) => void): Promise<void> {
  const events = child.stdio[3];
  if (!(events instanceof Readable)) return Promise.resolve();
  events.on('error', () => {});
  return new Promise((resolve) => {
    events.on('close', resolve);
    createInterface({ input: events }).on('line', take).on('close', resolve);
  });
}
