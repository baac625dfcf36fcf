import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import {
  type ChannelColumns,
  type Instant,
  isErrorCode,
  PerwattError,
  type RecorderStatus,
  type SampleColumns,
} from '@perwatt/core';
import type { PowerSegments, PowerStream, PowerStreamOptions } from '@perwatt/harness';
import { joinChannels, joinSamples } from './join-columns.js';
import type {
  CarriedError,
  NativePlace,
  RecorderFacts,
  ThreadJob,
  ThreadMessage,
  ThreadRequest,
} from './power-thread-messages.js';

const entry = fileURLToPath(new URL('../dist/power-worker.js', import.meta.url));

/** Longest wait for an answer, ms: a disk may be slow, a thread that says nothing for so long is gone. */
const patience_ms = 30_000;

/** How often the thread acts by itself; tests make it quicker. */
export interface ThreadPace {
  /** Time between two looks at the recorder, ms. Default 250. */
  readonly look_ms?: number;
  /** Longest time that a sample waits for the disk, ms. Default 1500. */
  readonly flush_ms?: number;
}

/**
 * A source of this host, read and written to disk by a thread of its own: neither needs a turn of this thread's event
 * loop. What was read is kept for `drain` until it is asked for. `mark`, `flush` and `close` sleep until the thread has
 * done it. The file is closed when the process exits, also on a signal that ends in an exit.
 *
 * Throws what the source's start and the segment's creation throw, `BUILD_MISSING` without built files, and `POWER_IO`
 * when the thread no longer answers.
 */
export function openPowerThread(
  place: NativePlace,
  stream: PowerStreamOptions,
  pace: ThreadPace = {},
): PowerStream {
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  const line = openLine({ place, stream, look_ms: pace.look_ms ?? 250, flush_ms: pace.flush_ms ?? 1500 });
  const { facts, inbox, ask } = line;
  let segments: PowerSegments | null = null;
  const close = () => {
    if (segments !== null) return segments;
    process.removeListener('exit', closeAtExit);
    ask('close');
    if (inbox.segments === null)
      throw new PerwattError('POWER_IO', `the file of ${facts.source} was not closed`);
    segments = inbox.segments;
    return segments;
  };
  const closeAtExit = () => {
    try {
      close();
    } catch {
      // The file keeps what was flushed before.
    }
  };
  process.once('exit', closeAtExit);
  return {
    ...facts,
    drain() {
      line.listen();
      return joinSamples(inbox.samples.splice(0));
    },
    ...(facts.channels && {
      drainChannels() {
        line.listen();
        return joinChannels(inbox.channels.splice(0));
      },
    }),
    mark() {
      if (segments === null && inbox.status.state === 'running') ask('mark');
      return inbox.marked;
    },
    status() {
      line.listen();
      return inbox.status;
    },
    stop() {
      if (segments === null && inbox.status.state !== 'stopped') ask('stop');
    },
    flush() {
      if (segments === null) ask('flush');
    },
    close,
  };
}

/** What the thread said and nobody took yet. */
interface Inbox {
  readonly samples: SampleColumns[];
  readonly channels: ChannelColumns[];
  status: RecorderStatus;
  marked: Instant;
  segments: PowerSegments | null;
  facts: RecorderFacts | null;
  failure: Error | null;
}

interface Line {
  readonly facts: RecorderFacts;
  readonly inbox: Inbox;
  /** Takes in what was said so far; never waits. Throws what the thread failed with. */
  listen(): void;
  /** Asks for something and sleeps until it is done. */
  ask(request: ThreadRequest): void;
}

function openLine(job: Omit<ThreadJob, 'port' | 'answers'>): Line {
  const { port1: port, port2 } = new MessageChannel();
  const answers = new Int32Array(new SharedArrayBuffer(4));
  const workerData: ThreadJob = { ...job, port: port2, answers };
  const worker = new Worker(entry, { workerData, transferList: [port2], execArgv: [] });
  worker.on('error', (error) => {
    inbox.failure ??= error;
  });
  worker.unref();
  const inbox: Inbox = {
    samples: [],
    channels: [],
    status: { state: 'running', reason: null, reads: 0, missed_deadlines: 0, read_ns: 0 },
    marked: 0n as Instant,
    segments: null,
    facts: null,
    failure: null,
  };
  const listen = () => {
    for (let said = receiveMessageOnPort(port); said !== undefined; said = receiveMessageOnPort(port))
      takeIn(said.message as ThreadMessage, inbox);
    if (inbox.failure !== null) throw inbox.failure;
  };
  const answered = (before: number) => {
    if (Atomics.wait(answers, 0, before, patience_ms) === 'timed-out') {
      const text = `the thread that reads ${job.place.name} has not answered for ${patience_ms / 1000} s`;
      inbox.failure ??= new PerwattError('POWER_IO', text);
    }
    listen();
  };
  answered(0);
  if (inbox.facts === null) throw new PerwattError('POWER_IO', `${job.place.name} did not start`);
  return {
    facts: inbox.facts,
    inbox,
    listen,
    ask(request) {
      listen();
      const before = Atomics.load(answers, 0);
      port.postMessage(request);
      answered(before);
    },
  };
}

function takeIn(message: ThreadMessage, inbox: Inbox): void {
  switch (message.kind) {
    case 'samples':
      inbox.samples.push(message.columns);
      break;
    case 'channels':
      inbox.channels.push(message.columns);
      break;
    case 'status':
      inbox.status = message.status;
      break;
    case 'started':
      inbox.facts = message.facts;
      break;
    case 'marked':
      inbox.marked = message.at;
      break;
    case 'done':
      inbox.segments = message.segments ?? inbox.segments;
      break;
    case 'failed':
      inbox.failure ??= errorOf(message.error);
      break;
  }
}

const errorOf = ({ code, message, hint }: CarriedError): Error =>
  isErrorCode(code) ? new PerwattError(code, message, hint === null ? {} : { hint }) : new Error(message);
