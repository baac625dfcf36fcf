import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Grade, type GradeInput, type LateGrader, PerwattError } from '@perwatt/core';
import { graderById } from './graders.js';
import { plainGrade } from './plain-grade.js';
import { createPoolWorker, type PoolWorker } from './pool-worker.js';
import type { WorkerTask } from './worker-messages.js';

export interface GraderPoolOptions {
  /** Threads that grade side by side; they start when they are needed. */
  readonly workers: number;
  /** CPU time that one grade may take, ms; by the clock where the system does not tell it, and never over ten times as long. Default 1500. */
  readonly time_limit_ms?: number;
  /** Heap of a worker, MB. Default 256. */
  readonly memory_mb?: number;
  /** Program of a worker, for tests. */
  readonly entry?: string;
}

/** Graders in threads that can be killed. The grades are those of the graders themselves. */
export interface GraderPool {
  /**
   * Grades one answer. One that takes too long, too much memory or breaks the grader ends its worker and nothing else: its verdict is
   * `error`, with the reason. Rejects with what the grader throws for an input that it does not take, and with `GRADER_UNKNOWN`.
   */
  grade(grader: string, input: GradeInput): Promise<Grade>;
  /** One of the graders as a late one. It pays no heed to a signal: what it takes is bounded, and an answer that is there has its grade. */
  late(grader: string): LateGrader;
  /** Ends all workers; grades under way become `error`. Safe to call twice. */
  close(): Promise<void>;
}

interface Job extends WorkerTask {
  readonly resolve: (grade: Grade) => void;
  readonly reject: (error: unknown) => void;
}

const built = fileURLToPath(new URL('../dist/grade-worker.js', import.meta.url));

/** A pool of grader threads. Throws `BUILD_MISSING` without built files. */
export function createGraderPool(options: GraderPoolOptions): GraderPool {
  const { workers: size, time_limit_ms = 1500, memory_mb = 256, entry = built } = options;
  if (!existsSync(entry)) throw new PerwattError('BUILD_MISSING', `${entry} is missing`);
  const queue: Job[] = [];
  const free: PoolWorker[] = [];
  const all = new Set<PoolWorker>();
  let closed = false;

  const next = (): void => {
    while (queue.length > 0 && (free.length > 0 || all.size < Math.max(1, size))) {
      const worker = free.pop() ?? started();
      const job = queue.shift();
      if (job !== undefined) void run(worker, job);
    }
  };
  const started = (): PoolWorker => {
    const worker = createPoolWorker({ entry, time_limit_ms, memory_mb });
    all.add(worker);
    return worker;
  };
  const run = async (worker: PoolWorker, job: Job): Promise<void> => {
    const { answer, alive } = await worker.ask({ grader: job.grader, input: job.input });
    if (alive) free.push(worker);
    else all.delete(worker);
    settle(job, answer);
    next();
  };
  const grade = async (grader: string, input: GradeInput): Promise<Grade> => {
    graderById(grader);
    if (closed) return plainGrade(input, 'error', { reason: 'the graders were stopped' });
    return new Promise((resolve, reject) => {
      queue.push({ grader, input, resolve, reject });
      next();
    });
  };
  return {
    grade,
    late: (id) => {
      const { version } = graderById(id);
      return {
        id,
        version,
        gradeLater: (input) => grade(id, input),
      };
    },
    close: async () => {
      closed = true;
      for (const job of queue.splice(0)) job.resolve(stopped(job));
      await Promise.all([...all].map((worker) => worker.end('the graders were stopped')));
      all.clear();
      free.length = 0;
    },
  };
}

const stopped = ({ input }: Job): Grade => plainGrade(input, 'error', { reason: 'the graders were stopped' });

function settle(
  { input, resolve, reject }: Job,
  answer: Awaited<ReturnType<PoolWorker['ask']>>['answer'],
): void {
  if (answer.kind === 'grade') resolve(answer.grade);
  else if (answer.kind === 'failed') resolve(plainGrade(input, 'error', { reason: answer.message }));
  else reject(new PerwattError(answer.code, answer.message, { hint: answer.hint }));
}
