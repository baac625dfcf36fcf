import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PerwattError, systemCode } from '@perwatt/core';
import { fileError } from './file-errors.js';
import { readTextIfThere } from './json-file.js';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js';

const LOCK = 'lock';
const TAKEOVER = 'lock.takeover';
const TRIES = 8;
let claims = 0;

/**
 * Takes the folder for this process and returns what gives it back (safe to call twice). A lock whose process has ended is
 * taken over; one that may still be at work throws `RUN_IN_USE`.
 */
export function lockFolder(folder: string, procRoot = '/proc'): () => void {
  const self = ownIdentity(procRoot);
  claims += 1;
  const mine = join(folder, `.lock.${self.pid}.${claims}`);
  const text = `${JSON.stringify({ ...self, claim: claims })}\n`;
  try {
    writeFileSync(mine, text, { flag: 'w', flush: true });
    take({ folder, mine, self, procRoot });
  } catch (error) {
    throw fileError(error, join(folder, LOCK));
  } finally {
    rmSync(mine, { force: true });
  }
  return () => {
    const path = join(folder, LOCK);
    if (readTextIfThere(path) === text) rmSync(path, { force: true });
  };
}

interface Claim {
  readonly folder: string;
  /** A file with this process's identity: linked into place it is a whole lock or none. */
  readonly mine: string;
  readonly self: ProcessIdentity;
  readonly procRoot: string;
}

function take(claim: Claim): void {
  const path = join(claim.folder, LOCK);
  for (let tries = 0; tries < TRIES; tries++) {
    if (linked(claim.mine, path)) return;
    refuseIfAlive(path, claim);
    if (takeOver(path, claim)) return;
  }
  throw new PerwattError('RUN_IN_USE', `${path} keeps changing hands`);
}

/** Replaces a dead process's lock. One process at a time may try, so that a lock just taken over isn't taken over again. */
function takeOver(path: string, claim: Claim): boolean {
  const guard = join(claim.folder, TAKEOVER);
  if (!linked(claim.mine, guard)) {
    refuseIfAlive(guard, claim);
    rmSync(guard, { force: true });
    return false;
  }
  try {
    refuseIfAlive(path, claim);
    if (readTextIfThere(path) === null) return false;
    const replacement = `${claim.mine}.new`;
    linkSync(claim.mine, replacement);
    renameSync(replacement, path);
    return true;
  } finally {
    rmSync(guard, { force: true });
  }
}

function linked(existing: string, path: string): boolean {
  try {
    linkSync(existing, path);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function refuseIfAlive(path: string, { self, procRoot }: Claim): void {
  const text = readTextIfThere(path);
  const owner = text === null ? null : parseOwner(text);
  if (owner === null || !isAlive(owner, self, procRoot)) return;
  throw new PerwattError(
    'RUN_IN_USE',
    `${path} is held by process ${owner.pid} on ${owner.hostname}`,
    owner.hostname === self.hostname
      ? {}
      : { hint: `Wait for that process to end; if it is gone for certain, delete ${path}.` },
  );
}

/** Who holds a lock; null when the text is no lock, as after a power loss. */
function parseOwner(text: string): ProcessIdentity | null {
  try {
    const { pid, hostname, boot_id, start_ticks } = JSON.parse(text);
    if (typeof pid !== 'number' || typeof hostname !== 'string') return null;
    return {
      pid,
      hostname,
      boot_id: typeof boot_id === 'string' ? boot_id : null,
      start_ticks: typeof start_ticks === 'number' ? start_ticks : null,
    };
  } catch {
    return null;
  }
}
