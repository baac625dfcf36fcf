import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scanColumns } from './scan-columns.js';
import { smallRun } from './small-run.fixture.js';

function runHere() {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-columns-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return smallRun(root, { cells: ['a'] });
}

const cellId = 'c-a';

test('columns hold what the rows hold, nulls and stamps included', () => {
  const run = runHere();
  const { rows } = run.readCalls(cellId);
  const zero = rows[0]?.dispatch_ns ?? 0n;
  const got: unknown[] = [];
  const total = scanColumns(run, { cellId, table: 'calls' }, (batch) => {
    const [id, status, kind] = [batch.text('query_id'), batch.text('status'), batch.text('error_kind')];
    const [tokens, since] = [batch.number('completion_tokens'), batch.number('dispatch_ns', zero)];
    const [sched, end] = [batch.stamp('sched_ns'), batch.stamp('end_ns')];
    for (let i = 0; i < batch.rows; i++)
      got.push([id(i), status(i), kind(i), tokens(i), since(i), sched(i), end(i)]);
  });
  const want = rows.map((r) => [
    r.query_id,
    r.status,
    r.error_kind,
    r.completion_tokens,
    Number(r.dispatch_ns - zero),
    r.sched_ns,
    r.end_ns,
  ]);
  expect(rows.length).toBeGreaterThan(0);
  expect(got).toEqual(want);
  expect(total).toBe(rows.length);
});

// biome-ignore format: a table is read in columns
test.each([
  { why: 'no such column',       ask: 'number', column: 'nothing',      says: 'table calls has no column "nothing"' },
  { why: 'a text is no number',  ask: 'number', column: 'query_id',     says: 'column "query_id" holds no numbers' },
  { why: 'bits are no numbers',  ask: 'number', column: 'conn_reused',  says: 'column "conn_reused" holds no numbers' },
  { why: 'a count is no stamp',  ask: 'stamp',  column: 'events',       says: 'column "events" holds no stamps' },
  { why: 'a number is no text',  ask: 'text',   column: 'events',       says: 'column "events" holds no texts' },
] as const)('asking for the wrong kind throws: $why', ({ ask, column, says }) => {
  expect(() => scanColumns(runHere(), { cellId, table: 'calls' }, (batch) => batch[ask](column))).toThrow(says);
});
