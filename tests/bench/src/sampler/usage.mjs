import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of a process and, of it, that of its sampling threads, ns. Exact: the scheduler's own account. */
export function cpuTime(pid) {
  let [all_ns, threads_ns] = [0, 0];
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const at = `/proc/${pid}/task/${task}`;
    const ns = Number(readFileSync(`${at}/schedstat`, 'utf8').split(' ')[0]);
    all_ns += ns;
    if (readFileSync(`${at}/comm`, 'utf8').startsWith('power ')) threads_ns += ns;
  }
  return { all_ns, threads_ns };
}

/** Memory that a process holds, bytes. */
export const memoryOf = (pid) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
