import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PublishedRow, published } from '@perwatt/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportRun } from './export-run.js';
import { createPublishedRun, readPublished } from './published-run.js';
import { openQueries } from './query-run.js';
import { openRun } from './run-folder.js';
import { verifyRun } from './verify-run.js';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-published-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const row = (value: number | null): PublishedRow => ({
  ...(Object.fromEntries(Object.keys(published).map((name) => [name, null])) as unknown as PublishedRow),
  run_id: 'imported',
  source: 'elsewhere',
  source_file: 'a.csv',
  source_row: 1,
  setting: '{}',
  phase: 'all',
  metric: 'power_w',
  unit: 'W',
  value,
  statistic: 'mean',
  basis: 'measured',
  bound: 'none',
  window: 'unknown',
  rankable: true,
  reason: value === null ? 'not_stated' : null,
  provenance: 'published',
  licence: 'MIT',
  citation: 'Somebody, 2026',
});

const facts = {
  perwatt_version: '0.1.0',
  importer: { kind: 'test', version: 1 },
  imported: '2026-11-30T00:00:00.000Z',
  files: [{ file: 'a.csv', bytes: 3, sha256: '0'.repeat(64), source_version: null, records: 2 }],
};

const written = (rows: readonly PublishedRow[]) => {
  const path = join(root, 'imported');
  const writer = createPublishedRun(path);
  writer.append(rows);
  return { path, manifest: writer.finish(facts) };
};

test('rows and facts are read back as they were written', () => {
  const rows = [row(12.5), row(null)];
  const { path, manifest } = written(rows);
  expect(readPublished(path)).toEqual({ manifest, rows, torn: [] });
  expect(manifest).toMatchObject({ kind: 'published', run_id: 'imported', segment: { rows: 2 } });
});

test('its figures answer SQL, and nothing else of the folder does', async () => {
  const { path } = written([row(12.5), row(null)]);
  const run = await openQueries(path);
  try {
    const { rows } = await run.ask('SELECT metric, value, reason FROM published ORDER BY value');
    const all = [];
    for await (const some of rows) all.push(...some);
    expect(all).toEqual([
      ['power_w', 12.5, null],
      ['power_w', null, 'not_stated'],
    ]);
    await expect(run.ask('SELECT * FROM queries')).rejects.toMatchObject({ code: 'SQL_INVALID' });
    await expect(run.ask(`SELECT * FROM read_text('${join(root, '..')}/x')`)).rejects.toMatchObject({
      code: 'SQL_INVALID',
    });
  } finally {
    run.close();
  }
});

test('its figures are exported, and a table that it cannot have is refused', async () => {
  const { path } = written([row(12.5), row(null)]);
  const out = join(root, 'out');
  const { files, torn } = await exportRun(path, { format: 'json', out });
  expect(torn).toEqual([]);
  expect(files).toMatchObject([{ table: 'published', rows: 2 }]);
  const lines = readFileSync(join(out, 'published.jsonl'), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).value)).toEqual([12.5, null]);
  await expect(exportRun(path, { format: 'json', out, tables: ['queries'] })).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringContaining('no table "queries"; it has published'),
  });
});

test('a torn segment is named in the answer to SQL too', async () => {
  const { path, manifest } = written([row(12.5)]);
  truncateSync(join(path, manifest.segment.file), 100);
  const run = await openQueries(path);
  run.close();
  expect(run.torn).toMatchObject([{ file: 'published-0.arrows', rows: 0 }]);
});

test('whoever opens it as a measured run is told what it is', () => {
  const { path } = written([row(1)]);
  expect(() => openRun(path)).toThrowError(
    expect.objectContaining({ code: 'RUN_PUBLISHED', message: expect.stringContaining('others published') }),
  );
});

test('a measured run, a folder without one and a broken manifest are told apart', () => {
  const { path } = written([row(1)]);
  const file = join(path, 'run.json');
  expect(() => readPublished(join(root, 'none'))).toThrowError(
    expect.objectContaining({ code: 'RUN_NOT_FOUND' }),
  );
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace('"kind": "published",', ''));
  expect(() => readPublished(path)).toThrowError(
    expect.objectContaining({ code: 'RUN_INVALID', message: expect.stringContaining('published figures') }),
  );
  writeFileSync(file, text.slice(0, 40));
  expect(() => readPublished(path)).toThrowError(
    expect.objectContaining({ code: 'RUN_INVALID', message: expect.stringContaining('not JSON') }),
  );
});

test('a bit flipped in the rows is named', () => {
  const { path, manifest } = written([row(1), row(2)]);
  const file = join(path, manifest.segment.file);
  const bytes = readFileSync(file);
  bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  expect(readPublished(path).torn).toEqual([
    expect.objectContaining({
      file: manifest.segment.file,
      reason: expect.stringMatching(/checksum|sha256|unreadable/),
    }),
  ]);
});

test('verify reads it whole, and names what is not as it was written', () => {
  const { path, manifest } = written([row(1), row(2)]);
  const file = join(path, manifest.segment.file);
  const whole = verifyRun(path);
  expect(whole).toMatchObject({ run_id: 'imported', cells: 0, segments: 1, rows: 2, findings: [] });
  const bytes = readFileSync(file);
  writeFileSync(join(path, 'other-0.arrows'), bytes);
  bytes[bytes.length - 40] = (bytes[bytes.length - 40] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  expect(verifyRun(path).findings.map(({ code, where }) => [code, where])).toEqual([
    ['segment_damaged', 'published-0.arrows'],
    ['file_unlisted', 'other-0.arrows'],
  ]);
  writeFileSync(join(path, 'run.json'), '{"kind":"published"}');
  expect(verifyRun(path).findings).toMatchObject([{ code: 'json_invalid', where: 'run.json' }]);
});

test('rows that are gone are named', () => {
  const { path, manifest } = written([row(1)]);
  rmSync(join(path, manifest.segment.file));
  expect(readPublished(path)).toMatchObject({ rows: [], torn: [{ reason: 'the file is missing' }] });
});

test('a folder that exists is left alone, and a discarded run leaves none', () => {
  const path = join(root, 'imported');
  const writer = createPublishedRun(path);
  expect(() => createPublishedRun(path)).toThrowError(expect.objectContaining({ code: 'INPUT_INVALID' }));
  expect(existsSync(path)).toBe(true);
  writer.discard();
  expect(existsSync(path)).toBe(false);
});
