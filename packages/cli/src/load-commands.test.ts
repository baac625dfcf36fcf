import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { recordedIo } from './io.fixture.js';
import { loadCommands } from './load-commands.js';

const parts = { io: recordedIo({ cwd: tmpdir() }).io, version: '0.0.0' };
const namesFor = async (args: readonly string[]) =>
  (await loadCommands(args, parts)).map((command) => command.name());

// biome-ignore format: a table is read in columns
test.each([
  [['query', 'runs/a', 'SELECT 1'], 'alone'],
  [['--verbose', 'query'],          'an option before it'],
])('%j loads the one command that it names: %s', async (args, _why) => {
  expect(await namesFor(args)).toEqual(['query']);
});

test.each([[['--version']], [['-V']]])('%j loads none: the version is known without them', async (args) => {
  expect(await namesFor(args)).toEqual([]);
});

// biome-ignore format: a table is read in columns
test.each([
  [[],               'the help'],
  [['--help'],       'the help'],
  [['help', 'run'],  'the help of one'],
  [['querry'],       'a name that is none: all are suggested from'],
  [['constructor'],  'a word that every object knows'],
])('%j loads all commands: %s', async (args, _why) => {
  const names = await namesFor(args);
  expect(names.length).toBeGreaterThan(24);
  expect(new Set(names).size).toBe(names.length);
  expect(names.slice(0, 3)).toEqual(['run', 'replay', 'view']);
});
