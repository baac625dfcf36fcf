import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { footprintCommand } from './footprint.js';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perwatt-footprint-'));
  writeFileSync(join(cwd, 'bad.yaml'), 'factors_version: 2');
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

// biome-ignore format: a table is read in columns
test.each([
  [['none'],                              'RUN_NOT_FOUND',   /^no run at /,                              'no run'],
  [['none', '--region', 'atlantis'],      'USAGE',           /^no factors for region "atlantis"/,        'no such region'],
  [['none', '--factors', 'no.yaml'],      'FILE_UNREADABLE', /^cannot read no\.yaml: ENOENT$/,           'no such file'],
  [['none', '--factors', 'bad.yaml'],     'INPUT_INVALID',   /^bad\.yaml: factors_version must be 1, not 2/,'another version'],
])('%# %j is refused', async (args, code, message) => {
  const { io } = recordedIo({ cwd });
  await expect(footprintCommand(io).parseAsync(args, { from: 'user' })).rejects.toEqual(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );
});
