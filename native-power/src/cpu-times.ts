import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Nanos, nanos, systemCode } from '@perwatt/core';
import { textFile } from './text-file.js';

/** CPU time spent since boot. Two looks apart tell how much of the host's work was ours. */
export interface CpuTimes {
  /** Of the whole host, all CPUs: user, system and interrupts; waiting and stolen time left out. In steps of 10 ms. */
  readonly busy_ns: Nanos;
  /** Of the given processes and everything they started that is still theirs, living or gone. In steps of 10 ms. */
  readonly own_ns: Nanos;
  /** CPUs the host has online. */
  readonly cpus: number;
}

/** The kernel reports times to programs in hundredths of a second on every architecture that Linux runs here. */
const tickNs = 10_000_000;

/**
 * CPU time of the host and of `pids` with their descendants, read under `root`. Null where there is no `/proc/stat`.
 * A process that was adopted by another parent is lost from `own_ns`; pids that are gone count 0.
 */
export function cpuTimes(root: string, pids: readonly number[]): CpuTimes | null {
  const stat = textFile(join(root, 'proc/stat'));
  if (stat === null) return null;
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = numbers(stat.split('\n')[0] ?? '');
  const cpus = stat.split('\n').filter((line) => /^cpu\d/.test(line)).length;
  const busy = user + nice + system + irq + softirq;
  const own = ownTicks(processes(root), new Set(pids));
  return { busy_ns: nanos(busy * tickNs), own_ns: nanos(own * tickNs), cpus };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** Its own and those of children it has waited for. */
  readonly ticks: number;
}

function ownTicks(all: readonly Process[], pids: ReadonlySet<number>): number {
  const ours = new Set(pids);
  for (let known = -1; known < ours.size; ) {
    known = ours.size;
    for (const { pid, parent } of all) if (ours.has(parent)) ours.add(pid);
  }
  return all.filter(({ pid }) => ours.has(pid)).reduce((sum, { ticks }) => sum + ticks, 0);
}

function processes(root: string): Process[] {
  return numericFolders(join(root, 'proc')).flatMap((pid) => {
    const stat = textFile(join(root, 'proc', String(pid), 'stat'));
    if (stat === null) return [];
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const of = (index: number) => Number(fields[index - 3] ?? 0);
    return [{ pid, parent: of(4), ticks: of(14) + of(15) + of(16) + of(17) }];
  });
}

function numericFolders(folder: string): number[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}

const numbers = (line: string): number[] => line.split(/\s+/).slice(1).map(Number);
