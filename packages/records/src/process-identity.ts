import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as process from 'node:process';
import { systemCode } from '@perwatt/core';

/** What tells one process from every other, also from a later one with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly hostname: string;
  /** Id of the host's boot; null where the system has none. */
  readonly boot_id: string | null;
  /** Clock ticks from boot to the process's start; null where the system doesn't say. */
  readonly start_ticks: number | null;
}

/** This process. `procRoot` is the kernel's `/proc`. */
export const ownIdentity = (procRoot: string): ProcessIdentity => ({
  pid: process.pid,
  hostname: hostname(),
  boot_id: read(join(procRoot, 'sys/kernel/random/boot_id'))?.trim() ?? null,
  start_ticks: processStat(procRoot, process.pid)?.start_ticks ?? null,
});

/**
 * Whether the process may still be at work, seen from `self`. A process of an earlier boot of this host, one that has
 * ended, or one whose id has passed to another is not. A process of another host can't be asked and counts as alive.
 */
export function isAlive(other: ProcessIdentity, self: ProcessIdentity, procRoot: string): boolean {
  if (other.hostname !== self.hostname) return true;
  if (other.boot_id !== self.boot_id) return false;
  if (self.start_ticks === null) return answersSignals(other.pid);
  const stat = processStat(procRoot, other.pid);
  if (stat === null || stat.state === 'Z' || stat.state === 'X') return false;
  return other.start_ticks === null || stat.start_ticks === other.start_ticks;
}

/** State and start time of a process; null when there is none of that id. */
function processStat(procRoot: string, pid: number): { state: string; start_ticks: number } | null {
  const text = read(join(procRoot, String(pid), 'stat'));
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const start_ticks = Number(fields[19]);
  return Number.isFinite(start_ticks) ? { state: fields[0] ?? '', start_ticks } : null;
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
