import { readlinkSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { messageOf, PerwattError } from '@perwatt/core';
import { graderById } from './graders.js';
import type { WorkerAnswer, WorkerTask } from './worker-messages.js';

/** Number of this thread in `/proc/self/task`, so that its CPU time can be read; null where there is none. */
function threadId(): string | null {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1) ?? null;
  } catch {
    return null;
  }
}

function judge({ grader, input }: WorkerTask): WorkerAnswer {
  try {
    return { kind: 'grade', grade: graderById(grader).grade(input) };
  } catch (error) {
    if (!(error instanceof PerwattError)) return { kind: 'failed', message: messageOf(error) };
    const { code, message, hint } = error;
    return { kind: 'refused', code, message, hint };
  }
}

const port = parentPort;
port?.on('message', (task: WorkerTask) => port.postMessage(judge(task)));
port?.postMessage({ kind: 'ready', thread: threadId() } satisfies WorkerAnswer);
