import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PerwattError } from '@perwatt/core';
import { addonPath } from './addon.js';

/** Where the addon and what it is built of stand; tests bring their own. */
export interface AddonPlace {
  /** The addon's file. */
  readonly addon: string;
  /** Folders and files that it is built of. */
  readonly sources: readonly string[];
  /** Program that builds it. */
  readonly build: { readonly file: string; readonly args: readonly string[] };
}

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The addon of this package. */
export const ownAddon: AddonPlace = {
  addon: addonPath,
  sources: [here('../crates'), here('../build.mjs')],
  build: { file: process.execPath, args: [here('../build.mjs')] },
};

export interface BuildOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Told what is being built, a line at a time. */
  readonly onProgress: (line: string) => void;
  readonly place?: AddonPlace;
}

const SAID_LINES = 12;

/**
 * Builds the addon where it is missing or older than its sources. Resolves to whether anything was built. Throws `KERNELS_MISSING`
 * with the end of what the build said where it fails, for want of a Rust toolchain for example; an addon that was there stays.
 */
export async function ensureAddon({
  env,
  signal,
  onProgress,
  place = ownAddon,
}: BuildOptions): Promise<boolean> {
  if (isFresh(place)) return false;
  const said: string[] = [];
  const onLine = (line: string) => {
    said.push(line);
    if (said.length > SAID_LINES) said.shift();
    onProgress(line);
  };
  const problem = await built(place, { env, signal, onLine });
  if (problem === null) return true;
  if (signal.aborted) throw signal.reason;
  const words = said.join('\n').trim();
  throw new PerwattError(
    'KERNELS_MISSING',
    `the kernel runners could not be built: ${words === '' ? problem : words}`,
  );
}

/** Whether the addon is there and no source of it is newer. */
function isFresh({ addon, sources }: AddonPlace): boolean {
  if (!existsSync(addon)) return false;
  const at = statSync(addon).mtimeMs;
  return sources.every((path) => newest(path) <= at);
}

/** When the youngest file below `path` was written, ms; tests and what cargo makes left out. */
function newest(path: string): number {
  if (!existsSync(path)) return 0;
  const found = statSync(path);
  if (!found.isDirectory()) return found.mtimeMs;
  const names = readdirSync(path).filter(
    (name) => name !== 'target' && name !== 'tests' && !name.endsWith('_tests.rs'),
  );
  return Math.max(0, ...names.map((name) => newest(join(path, name))));
}

interface Building {
  readonly env: BuildOptions['env'];
  readonly signal: AbortSignal;
  readonly onLine: (line: string) => void;
}

/** Runs the build; why it failed, or null. */
async function built({ build }: AddonPlace, { env, signal, onLine }: Building): Promise<string | null> {
  const child = spawn(build.file, [...build.args], {
    env: { ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  const lines = [child.stdout, child.stderr].map(
    (input) =>
      new Promise<void>((resolve) => void createInterface({ input }).on('line', onLine).on('close', resolve)),
  );
  const ended = new Promise<string | null>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, name) =>
      resolve(code === 0 ? null : `the build ended with ${name ?? `exit code ${code}`}`),
    );
  });
  await Promise.all(lines);
  return ended;
}
