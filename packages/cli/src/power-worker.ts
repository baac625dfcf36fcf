import { workerData } from 'node:worker_threads';
import { messageOf, PerwattError, type Recorder } from '@perwatt/core';
import { type PowerStream, streamHere } from '@perwatt/harness';
import { powerSources } from '@perwatt/native-power';
import type {
  CarriedError,
  NativePlace,
  ThreadJob,
  ThreadMessage,
  ThreadRequest,
} from './power-thread-messages.js';

// Entry of the thread that reads one power source and writes its samples to disk. Nothing it does waits for the thread
// that started it: it looks at its recorder, writes and syncs by timers of its own, and says what it read by messages.

const { port, answers, ...job } = workerData as ThreadJob;

const say = (message: ThreadMessage) => port.postMessage(message);

/** Wakes whoever waits for the message that was said last. */
function answer(message: ThreadMessage): void {
  say(message);
  Atomics.add(answers, 0, 1);
  Atomics.notify(answers, 0);
}

const carried = (error: unknown): CarriedError =>
  error instanceof PerwattError
    ? { code: error.code, message: error.message, hint: error.hint }
    : {
        code: null,
        message: error instanceof Error ? (error.stack ?? error.message) : messageOf(error),
        hint: null,
      };

function sourceOf({ name, ...place }: NativePlace) {
  const source = powerSources(place).find((candidate) => candidate.name === name);
  if (source === undefined) throw new PerwattError('POWER_NO_SOURCE', `no power source is called "${name}"`);
  return source;
}

/** Hands over what was read since the last call: to the file's open batch, and to who listens. */
function take(stream: PowerStream): void {
  const columns = stream.drain();
  if (columns.at_ns.length > 0) say({ kind: 'samples', columns });
  const channels = stream.drainChannels?.();
  if (channels !== undefined && channels.at_ns.length > 0) say({ kind: 'channels', columns: channels });
  say({ kind: 'status', status: stream.status() });
}

function serve(stream: PowerStream): void {
  let flushed = performance.now();
  const flush = () => {
    stream.flush();
    flushed = performance.now();
  };
  const end = () => {
    clearInterval(looking);
    port.close();
  };
  const guarded = (work: () => void) => {
    try {
      work();
    } catch (error) {
      stream.stop();
      answer({ kind: 'failed', error: carried(error) });
      end();
    }
  };
  const answerTo: Readonly<Record<ThreadRequest, () => void>> = {
    mark() {
      const at = stream.mark();
      take(stream);
      answer({ kind: 'marked', at });
    },
    flush() {
      take(stream);
      flush();
      answer({ kind: 'done', segments: null });
    },
    stop() {
      stream.stop();
      take(stream);
      answer({ kind: 'done', segments: null });
    },
    close() {
      stream.stop();
      take(stream);
      answer({ kind: 'done', segments: stream.close() });
      end();
    },
  };
  const looking = setInterval(() => {
    guarded(() => {
      take(stream);
      if (performance.now() - flushed >= job.flush_ms) flush();
    });
  }, job.look_ms);
  port.on('message', (request: ThreadRequest) => guarded(answerTo[request]));
}

const factsOf = ({ source, domains, raw_units, period_ns, channels }: Recorder) => ({
  source,
  domains,
  raw_units,
  period_ns,
  ...(channels && { channels }),
});

try {
  const stream = streamHere(sourceOf(job.place), job.stream);
  say({ kind: 'status', status: stream.status() });
  answer({ kind: 'started', facts: factsOf(stream) });
  serve(stream);
} catch (error) {
  answer({ kind: 'failed', error: carried(error) });
  port.close();
}
