import { expect, test } from 'vitest';
import { probeEngine } from './probe-engine.js';

test('the engine that is installed is usable and names its release', async () => {
  expect(await probeEngine()).toEqual([
    {
      name: 'llama.cpp',
      area: 'engine',
      usable: true,
      detail: expect.stringMatching(/^llama\.cpp \S+ by node-llama-cpp \S+$/),
      fix: null,
    },
  ]);
});

test('one that is not installed says how to get it', async () => {
  expect(await probeEngine('no-such-engine')).toMatchObject([
    {
      usable: false,
      detail: expect.stringContaining('no-such-engine'),
      fix: 'npm install --include=optional',
    },
  ]);
});
