import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/**
 * The living processes of an engine whose leader was started in a session of its own: those of its group and session, and
 * descendants that left both. Where `proc` is no process table, the leader alone as long as its group answers.
 *
 * @param proc `/proc`, or a copy of it
 */
export function groupMembers(leader: number, proc: string): number[] {
  const all = processes(proc);
  if (all === null) return answers(leader) ? [leader] : [];
  const members = new Set([leader]);
  for (let known = -1; known < members.size; ) {
    known = members.size;
    for (const { pid, parent, group, session } of all) {
      if (group === leader || session === leader || members.has(parent)) members.add(pid);
    }
  }
  const living = new Set(all.map(({ pid }) => pid));
  return [...members].filter((pid) => living.has(pid));
}

function answers(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

/** Zombies are left out: they run nothing, and wait for a parent that may never look. */
function processes(proc: string): Seen[] | null {
  let names: string[];
  try {
    names = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  } catch {
    return null;
  }
  if (names.length === 0) return null;
  return names.flatMap((name) => {
    const stat = statOf(join(proc, name, 'stat'));
    // The name of a program may hold spaces and brackets: fields are counted from its last bracket.
    const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (session === undefined || state === 'Z' || state === 'X') return [];
    return [{ pid: Number(name), parent: Number(parent), group: Number(group), session: Number(session) }];
  });
}

function statOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
