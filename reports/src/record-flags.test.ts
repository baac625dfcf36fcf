import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildResults } from './build-results.js';
import { recordFlags } from './record-flags.js';
import { syntheticRun } from './synthetic-run.fixture.js';

const root = mkdtempSync(join(tmpdir(), 'perwatt-record-flags-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const codes = ({
  verdict,
}: {
  readonly verdict: { readonly reasons: readonly { readonly code: string }[] };
}) => verdict.reasons.map(({ code }) => code);

test('a copy of a segment in a closed cell is told in its verdict, and in no other', () => {
  const run = syntheticRun({ root, items: 4 });
  const [first] = run.cells().filter(({ status }) => status === 'done');
  const folder = run.cellFolder(first!.cell_id);
  copyFileSync(join(folder, 'queries-0.arrows'), join(folder, 'queries-9.arrows'));
  const { cells } = buildResults(run);
  const [copied, others] = [
    cells.find(({ cell_id }) => cell_id === first!.cell_id)!,
    cells.filter(({ cell_id }) => cell_id !== first!.cell_id),
  ];
  expect(codes(copied)).toEqual(expect.arrayContaining(['duplicate_queries', 'unlisted_segments']));
  const told = copied.verdict.reasons.find(({ code }) => code === 'unlisted_segments');
  expect(told?.text).toContain('queries-9.arrows');
  expect(told?.fix).toContain('perwatt verify');
  for (const other of others) expect(codes(other)).not.toContain('duplicate_queries');
});

const closed = { sitting: 0, state: 'closed' } as const;
const none = { duplicates: 0, unlisted: [] };

// biome-ignore format: a table is read in columns
test.each<[why: string, status: 'done' | 'running', state: 'closed' | 'open', read: { duplicates: number; unlisted: string[] }, codes: string[]]>([
  ['nothing is wrong',                                  'done',    'closed', none,                                                []],
  ['a closed cell lists its segments',                  'done',    'closed', { duplicates: 0, unlisted: ['queries-1.arrows'] },   ['unlisted_segments']],
  ['a sitting that was killed lists none',              'done',    'open',   { duplicates: 0, unlisted: ['queries-1.arrows'] },   []],
  ['nor does a cell that is being made',                'running', 'closed', { duplicates: 0, unlisted: ['queries-1.arrows'] },   []],
  ['an id of two rows is one too many in any cell',     'running', 'open',   { duplicates: 2, unlisted: [] },                     ['duplicate_queries']],
])('%s', (_, status, state, read, wanted) => {
  const cell = { status, sittings: [{ ...closed, state }] } as unknown as Parameters<typeof recordFlags>[0];
  expect(recordFlags(cell, read).map(({ code }) => code)).toEqual(wanted);
});
