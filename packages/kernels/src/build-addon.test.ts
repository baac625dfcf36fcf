import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type AddonPlace, ensureAddon, ownAddon } from './build-addon.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-kernels-'));
  mkdirSync(join(folder, 'crates/a/src'), { recursive: true });
  writeFileSync(join(folder, 'crates/a/src/lib.rs'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string) => join(folder, name);

/** A build that runs `script` with the addon's path as `addon`. */
const placeOf = (script: string): AddonPlace => ({
  addon: path('addon.node'),
  sources: [path('crates')],
  build: {
    file: process.execPath,
    args: [
      '-e',
      `const fs = require('node:fs'); const addon = ${JSON.stringify(path('addon.node'))}; ${script}`,
    ],
  },
});

const builds = () =>
  placeOf("console.log('Compiling a'); console.error('Finished'); fs.appendFileSync(addon, 'x');");

async function ensured(place: AddonPlace) {
  const lines: string[] = [];
  const signal = new AbortController().signal;
  const built = await ensureAddon({ env: {}, signal, onProgress: (line) => void lines.push(line), place });
  return { built, lines };
}

const at = (name: string, seconds: number) => utimesSync(path(name), seconds, seconds);

test('what is missing is built, and its progress told', async () => {
  const { built, lines } = await ensured(builds());
  expect(built).toBe(true);
  expect(lines.toSorted()).toEqual(['Compiling a', 'Finished']);
});

// biome-ignore format: a table is read in columns
test.each([
  ['crates/a/src/lib.rs',       200, true,  'a source is newer'],
  ['crates/a/src/lib.rs',       100, false, 'it is as new as its sources'],
  ['crates/a/src/x_tests.rs',   200, false, 'a test is no source'],
  ['crates/a/target/x',         200, false, 'nor is what cargo makes'],
] as const)('with %s of %i s it is built anew: %s', async (name, seconds, anew, _why) => {
  writeFileSync(path('addon.node'), '');
  mkdirSync(path('crates/a/target'), { recursive: true });
  writeFileSync(path(name), '');
  for (const file of ['addon.node', 'crates/a/src/lib.rs']) at(file, 100);
  at(name, seconds);
  const { built } = await ensured(builds());
  expect([built, readFileSync(path('addon.node'), 'utf8')]).toEqual([anew, anew ? 'x' : '']);
});

// biome-ignore format: a table is read in columns
test.each([
  ["console.error('kernels: no cargo found; install a Rust toolchain'); process.exit(1)", 'no cargo found; install a Rust toolchain', 'no toolchain'],
  ['process.exit(4)',                                                                     'the build ended with exit code 4',          'not a word'],
  [null,                                     'ENOENT',                                    'no such program'],
] as const)('a build that fails says why: %#', async (script, words, _why) => {
  const missing = { file: '/nowhere/cargo', args: [] };
  const place = script === null ? { ...builds(), build: missing } : placeOf(script);
  const failure = await ensured(place).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(PerwattError);
  expect(failure).toMatchObject({ code: 'KERNELS_MISSING', message: expect.stringContaining(words) });
});

test('a build is ended by an interruption', async () => {
  const stopping = new AbortController();
  const place = placeOf("console.log('Compiling'); setInterval(() => {}, 1000)");
  const building = ensureAddon({
    env: {},
    signal: stopping.signal,
    onProgress: () => stopping.abort(),
    place,
  });
  await expect(building).rejects.toThrow('aborted');
});

test('the build of this package is where it should be', () => {
  expect(readFileSync(ownAddon.sources[1] ?? '', 'utf8')).toContain('kernels-napi');
});
