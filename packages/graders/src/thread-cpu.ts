import { readFileSync } from 'node:fs';

/** CPU time that a thread of this process has taken so far, ms; null where the system does not tell it. */
export function threadCpuMs(thread: string): number | null {
  try {
    const [running_ns] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ');
    const ns = Number(running_ns);
    return Number.isFinite(ns) ? ns / 1e6 : null;
  } catch {
    return null;
  }
}
