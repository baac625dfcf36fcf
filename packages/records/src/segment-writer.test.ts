import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test as property } from '@fast-check/vitest';
import {
  arrowSchema,
  blindEvents,
  type ChannelColumns,
  createRng,
  type RowOf,
  type SampleColumns,
  sampleEvents,
  type TableName,
  type TextRow,
  type tables,
} from '@perwatt/core';
import { MessageReader, type RecordBatch, RecordBatchReader, RecordBatchStreamWriter } from 'apache-arrow';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SEAL_KEY } from './batch-seal.js';
import { dictionariesOf, encodeRows } from './encode-rows.js';
import { anyRow, anyTable } from './rows.fixture.js';
import { readColumns, readSegment } from './segment-reader.js';
import { BATCH_ROWS, SegmentWriter } from './segment-writer.js';
import { SyncStreamWriter } from './sync-stream-writer.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-segment-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const create = <T extends TableName>(table: T, file = `${table}-0.arrows`) =>
  SegmentWriter.create({ folder, file, table, sitting: 3, metadata: { run_id: 'r1' } });

const textRow = (query_id: string, changes: Partial<TextRow> = {}): TextRow => ({
  run_id: 'r1',
  cell_id: 'c1',
  query_id,
  call_id: null,
  sitting: 3,
  kind: 'answer',
  text: `text of ${query_id}`,
  detail: null,
  ...changes,
});

describe('rows', () => {
  property.prop([anyTable], { numRuns: 80, seed: 7 })(
    'of every table come back as they went in',
    ([table, flushes]) => {
      const file = `${readdirSync(folder).length}.arrows`;
      const writer = create(table, file);
      for (const rows of flushes) {
        writer.append(rows as RowOf<(typeof tables)[TableName]>[]);
        expect(writer.flush()).toBe(rows.length);
      }
      const entry = writer.close();
      const { rows, info } = readSegment(join(folder, file), table, entry);
      expect(rows).toEqual(flushes.flat());
      expect(info).toMatchObject({ torn: null, closed: true, verified: true, sitting: 3 });
      expect(info.metadata).toMatchObject({ run_id: 'r1', table, sitting: '3' });
      expect(entry).toMatchObject({
        file,
        table,
        sitting: 3,
        rows: flushes.flat().length,
        batches: flushes.filter((f) => f.length > 0).length,
        bytes: statSync(join(folder, file)).size,
      });
    },
  );

  test('are on the disk after a flush, before the segment is closed', () => {
    const writer = create('texts');
    writer.append([textRow('q0'), textRow('q1')]);
    expect(writer.pendingRows).toBe(2);
    expect(readSegment(writer.path, 'texts').rows).toEqual([]);
    writer.flush();
    writer.append([textRow('q2')]);
    const { rows, info } = readSegment(writer.path, 'texts');
    expect(rows.map((r) => r.query_id)).toEqual(['q0', 'q1']);
    expect(info).toMatchObject({ torn: null, closed: false, verified: false });
  });

  test('beyond 65,536 go into several batches of one flush', () => {
    const writer = create('texts');
    const rows = Array.from({ length: BATCH_ROWS + 1 }, (_, i) => textRow(`q${i}`));
    writer.append(rows);
    expect(writer.flush()).toBe(BATCH_ROWS + 1);
    expect(writer.close()).toMatchObject({ rows: BATCH_ROWS + 1, batches: 2 });
    const sizes = [...RecordBatchReader.from(readFileSync(writer.path))].map((b: RecordBatch) => b.numRows);
    expect(sizes).toEqual([BATCH_ROWS, 1]);
    expect(readSegment(writer.path, 'texts').rows.at(-1)).toEqual(rows.at(-1));
  });

  test('with very long texts are split into smaller batches', () => {
    const writer = create('texts');
    const text = 'x'.repeat(30 * 1024 * 1024);
    writer.append([0, 1, 2].map((i) => textRow(`q${i}`, { text })));
    expect(writer.close()).toMatchObject({ rows: 3, batches: 2 });
  });
});

describe('channels', () => {
  const infos = [
    { device: 'nvml:GPU-A', channel: 'gpu_temp_c', unit: '°C' },
    { device: 'nvml:GPU-A', channel: 'throttle_reasons', unit: 'bits' },
  ] as const;
  const columns: ChannelColumns = {
    at_ns: BigInt64Array.of(5n, 6n, 7n, 8n),
    channel: Uint16Array.of(0, 1, 1, 0),
    value: Float64Array.of(64, 0, 4, 0),
    value_valid: Uint8Array.of(1, 1, 1, 0),
    text: [null, '', 'sw_power_cap', null],
    missing_reason: [null, null, null, 'lost'],
  };

  test('are written as they are handed over, and 0 is told from nothing', () => {
    const writer = create('channels');
    writer.appendChannels(columns, infos);
    expect(writer.close().rows).toBe(4);
    // biome-ignore format: a table is read in columns
    expect(readSegment(writer.path, 'channels').rows).toEqual([
      { at_ns: 5n, device: 'nvml:GPU-A', channel: 'gpu_temp_c',       value: 64,   unit: '°C',   text: null,           missing_reason: null },
      { at_ns: 6n, device: 'nvml:GPU-A', channel: 'throttle_reasons', value: 0,    unit: 'bits', text: '',             missing_reason: null },
      { at_ns: 7n, device: 'nvml:GPU-A', channel: 'throttle_reasons', value: 4,    unit: 'bits', text: 'sw_power_cap', missing_reason: null },
      { at_ns: 8n, device: 'nvml:GPU-A', channel: 'gpu_temp_c',       value: null, unit: '°C',   text: null,           missing_reason: 'lost' },
    ]);
  });

  test('of a recorder that has fewer are refused as a whole', () => {
    const writer = create('channels');
    expect(() => writer.appendChannels(columns, infos.slice(0, 1))).toThrow('channel 1, but there are 1');
    expect(writer.pendingRows).toBe(0);
  });
});

describe('names', () => {
  test('grow within a segment: an index means the same name in every batch', () => {
    const writer = create('texts');
    const kinds = [['b', 'a'], ['a'], ['c', 'b', 'd'], ['d', 'e', 'a']];
    for (const batch of kinds) {
      writer.append(batch.map((kind, i) => textRow(`q${i}`, { kind })));
      writer.flush();
    }
    writer.close();
    const dictionaries = [...RecordBatchReader.from(readFileSync(writer.path))].map((batch: RecordBatch) => [
      ...(batch.getChild('kind')?.data[0]?.dictionary ?? []),
    ]);
    expect(dictionaries).toEqual([
      ['b', 'a'],
      ['b', 'a'],
      ['b', 'a', 'c', 'd'],
      ['b', 'a', 'c', 'd', 'e'],
    ]);
    expect(readSegment(writer.path, 'texts').rows.map((r) => r.kind)).toEqual(kinds.flat());
  });

  test('that are all null at first may come later', () => {
    const writer = create('calls');
    const row = sampleRowOf('calls');
    writer.append([{ ...row, error_kind: null } as never]);
    writer.flush();
    writer.append([{ ...row, error_kind: 'late' } as never]);
    writer.close();
    expect(readSegment(writer.path, 'calls').rows.map((r) => r.error_kind)).toEqual([null, 'late']);
  });

  test('past 65,536 distinct ones are refused, and what was flushed stays readable', () => {
    const writer = create('texts');
    writer.append([textRow('first')]);
    writer.flush();
    writer.append(Array.from({ length: 65_536 }, (_, i) => textRow('q', { kind: `k${i}` })));
    expect(() => writer.flush()).toThrow('more than 65536 distinct names');
    expect(readSegment(writer.path, 'texts')).toMatchObject({
      rows: [{ query_id: 'first' }],
      info: { torn: null },
    });
  });
});

const sampleRowOf = (table: TableName): Record<string, unknown> =>
  fc.sample(anyRow(table), { seed: 1, numRuns: 1 })[0] as Record<string, unknown>;

describe('a wrong row', () => {
  const good = textRow('good');
  // biome-ignore format: a table is read in columns
  const wrong: [string, object, string][] = [
    ['a missing column',           (({ kind: _, ...rest }) => rest)(good),   'column "kind" is missing'],
    ['an undefined value',         { ...good, text: undefined },             'column "text" is missing'],
    ['an extra column',            { ...good, colour: 'red' },               'column "colour" is unknown'],
    ['a null that may not be',     { ...good, query_id: null },              'column "query_id" is null, but must have a value'],
    ['a number for a text',        { ...good, text: 5 },                     'column "text" must be a string, not 5'],
    ['a fraction for a count',     { ...good, sitting: 1.5 },                'column "sitting" must be a whole number from 0 to 65535, not 1.5'],
    ['a count past its width',     { ...good, sitting: 65_536 },             'column "sitting" must be a whole number from 0 to 65535, not 65536'],
    ['a negative count',           { ...good, sitting: -1 },                 'column "sitting" must be a whole number from 0 to 65535, not -1'],
  ];
  test.each(wrong)(
    'with %s is refused with its place, and nothing of its call is kept',
    (_, row, message) => {
      const writer = create('texts');
      expect(() => writer.append([good, row as TextRow])).toThrow(`row 1 for table texts: ${message}`);
      writer.append([textRow('next')]);
      writer.close();
      expect(readSegment(writer.path, 'texts').rows.map((r) => r.query_id)).toEqual(['next']);
    },
  );

  // biome-ignore format: a table is read in columns
  const wrongCalls: [string, string, unknown, string][] = [
    ['NaN',                  'temperature', Number.NaN,   'must be a finite number, not NaN'],
    ['infinity',             'temperature', Infinity,     'must be a finite number, not Infinity'],
    ['a number for ns',      'end_ns',      12,           'must be a bigint of 64 bits, not 12'],
    ['ns past 64 bits',      'end_ns',      2n ** 63n,    'must be a bigint of 64 bits, not 9223372036854775808'],
    ['negative bytes',       'bytes_in',    -1n,          'must be a bigint of 64 bits, not -1'],
    ['a bool as number',     'conn_reused', 1,            'must be true or false, not 1'],
    ['a gap of NaN',         'icl_ns',      [1, Number.NaN], 'must be a list of finite numbers, not 1,NaN'],
    ['a gap that is no list', 'icl_ns',     5,            'must be a list of finite numbers, not 5'],
  ];
  test.each(wrongCalls)('of calls with %s is refused', (_, column, value, message) => {
    const writer = create('calls');
    const row = { ...sampleRowOf('calls'), [column]: value };
    expect(() => writer.append([row as never])).toThrow(`column "${column}" ${message}`);
  });
});

describe('the file', () => {
  test('is never one that existed', () => {
    create('texts').close();
    expect(() => create('texts')).toThrowError(expect.objectContaining({ code: 'RUN_IN_USE' }));
  });

  test('takes no rows after it was closed, and closes twice to the same entry', () => {
    const writer = create('texts');
    writer.append([textRow('q')]);
    const entry = writer.close();
    expect(writer.close()).toBe(entry);
    expect(() => writer.append([textRow('r')])).toThrow('is closed');
    expect(() => writer.flush()).toThrow('is closed');
  });

  test('holds, byte for byte, what the stock writer makes of the same batches', () => {
    const writer = create('texts');
    const flushes = [['a', 'b'], ['b'], ['c', 'a', 'd']].map((kinds) =>
      kinds.map((kind, i) => textRow(`q${i}`, { kind, text: i === 0 ? null : 'ü'.repeat(i) })),
    );
    for (const rows of flushes) {
      writer.append(rows);
      writer.flush();
    }
    writer.close();
    const bytes = readFileSync(writer.path);

    const schema = arrowSchema('texts', { sitting: '3', run_id: 'r1' });
    const dictionaries = dictionariesOf('texts');
    const stock = new RecordBatchStreamWriter({ autoDestroy: false });
    stock.reset(undefined, schema);
    const crcs = checksums(bytes);
    for (const [i, rows] of flushes.entries()) {
      const batch = encodeRows('texts', rows, { schema, dictionaries });
      batch.metadata.set(SEAL_KEY, crcs[i] ?? '');
      stock.write(batch);
    }
    stock.finish();
    stock.close();
    expect(crcs).toHaveLength(3);
    expect(Buffer.compare(bytes, stock.toUint8Array(true))).toBe(0);
  });
});

function checksums(bytes: Uint8Array): string[] {
  const reader = new MessageReader(bytes);
  const found: string[] = [];
  for (let m = reader.readMessage(); m !== null; m = reader.readMessage()) {
    reader.readMessageBody(m.bodyLength);
    const crc = m.metadata.get(SEAL_KEY);
    if (crc !== undefined) found.push(crc);
  }
  return found;
}

const columnsOf = (length: number, seed: number): SampleColumns => {
  const rng = createRng(seed);
  const some = (n: number) => Math.floor(rng() * n);
  const filled = <A extends { length: number; [i: number]: number | bigint }>(
    array: A,
    value: () => A[number],
  ) => {
    for (let i = 0; i < array.length; i++) array[i] = value();
    return array;
  };
  let at = BigInt(seed) * 1_000_000_000n;
  return {
    at_ns: filled(new BigInt64Array(length), () => (at += 1n + BigInt(some(1000)))),
    read_ns: filled(new Float64Array(length), rng),
    domain: filled(new Uint16Array(length), () => some(3)),
    raw: filled(new BigInt64Array(length), () => BigInt(some(1e9))),
    raw_valid: filled(new Uint8Array(length), () => some(2)),
    event: filled(new Uint8Array(length), () => some(sampleEvents.length)),
    booked_energy_j: filled(new Float64Array(length), rng),
    booked_lo_j: filled(new Float64Array(length), rng),
    booked_hi_j: filled(new Float64Array(length), rng),
    power_w: filled(new Float64Array(length), rng),
    power_valid: filled(new Uint8Array(length), () => some(2)),
  };
};

describe('samples as columns', () => {
  const names = { domains: ['d0', 'd1', 'd2'], raw_units: ['uJ', 'mW', 'uJ'] };
  const asRows = (c: SampleColumns) =>
    Array.from(c.at_ns, (at_ns, i) => ({
      at_ns,
      read_ns: c.read_ns[i],
      domain: names.domains[c.domain[i]!],
      raw: c.raw_valid[i] === 1 ? c.raw[i] : null,
      unit: names.raw_units[c.domain[i]!],
      event: sampleEvents[c.event[i]!],
      booked_energy_j: c.booked_energy_j[i],
      booked_lo_j: c.booked_lo_j[i],
      booked_hi_j: c.booked_hi_j[i],
      power_w: c.power_valid[i] === 1 ? c.power_w[i] : null,
    }));

  test('read as the same rows, however they were cut into chunks and flushes', () => {
    const writer = create('samples');
    const chunks = [1, 5, 0, 1000, 70_000, 65_536].map((n, i) => columnsOf(n, i + 1));
    for (const [i, chunk] of chunks.entries()) {
      writer.appendColumns(chunk, names);
      if (i % 2 === 1) writer.flush();
    }
    const entry = writer.close();
    const { rows, info } = readSegment(writer.path, 'samples', entry);
    expect(rows).toEqual(chunks.flatMap(asRows));
    expect(info).toMatchObject({ torn: null, verified: true, batches: 5 });
  });

  test('and as rows give the same bytes', () => {
    const chunk = columnsOf(500, 9);
    const byColumns = create('samples', 'a.arrows');
    byColumns.appendColumns(chunk, names);
    const byRows = create('samples', 'b.arrows');
    byRows.append(asRows(chunk) as never);
    // Absent numbers hold whatever the recorder left in their place.
    expect(readSegment(join(folder, byColumns.close().file), 'samples').rows).toEqual(
      readSegment(join(folder, byRows.close().file), 'samples').rows,
    );
  });

  test('may be overwritten once they were flushed', () => {
    const writer = create('samples');
    const chunk = columnsOf(100, 4);
    const before = asRows(chunk);
    writer.appendColumns(chunk, names);
    writer.flush();
    chunk.at_ns.fill(0n);
    chunk.booked_energy_j.fill(0);
    chunk.raw_valid.fill(0);
    expect(readSegment(writer.path, 'samples', writer.close()).rows).toEqual(before);
  });

  test('come back by domain as typed arrays', () => {
    const writer = create('samples');
    const chunks = [columnsOf(300, 1), columnsOf(70_000, 2)];
    for (const chunk of chunks) writer.appendColumns(chunk, names);
    const { series, info } = readColumns(writer.path, writer.close());
    expect(info.torn).toBeNull();
    const rows = chunks.flatMap(asRows);
    expect([...series.keys()].sort()).toEqual(names.domains);
    const blind: ReadonlySet<string | undefined> = blindEvents;
    for (const [domain, s] of series) {
      const own = rows.filter((r) => r.domain === domain && !blind.has(r.event));
      expect(s.at_ns).toEqual(BigInt64Array.from(own, (r) => r.at_ns));
      expect(s.booked_j).toEqual(Float64Array.from(own, (r) => r.booked_energy_j!));
      expect(s.lo_j).toEqual(Float64Array.from(own, (r) => r.booked_lo_j!));
      expect(s.hi_j).toEqual(Float64Array.from(own, (r) => r.booked_hi_j!));
    }
  });

  test('that are not later than the one before stay out of the series, not out of the file', () => {
    const writer = create('samples');
    const chunk = columnsOf(4, 1);
    chunk.domain.fill(0);
    chunk.event.fill(sampleEvents.indexOf('ok'));
    chunk.at_ns.set([5n, 5n, 4n, 6n]);
    writer.appendColumns(chunk, names);
    const entry = writer.close();
    expect(readColumns(writer.path, entry).series.get('d0')?.at_ns).toEqual(BigInt64Array.of(5n, 6n));
    expect(readSegment(writer.path, 'samples').rows).toHaveLength(4);
  });

  // biome-ignore format: a table is read in columns
  test.each<[string, (c: SampleColumns) => SampleColumns, string]>([
    ['of unequal length',           (c) => ({ ...c, read_ns: new Float64Array(2) }),      'column "read_ns" has 2 entries, at_ns has 3'],
    ['with a domain out of range',  (c) => ({ ...c, domain: Uint16Array.of(0, 3, 0) }),   'column "domain" is 3 at 1'],
    ['with an event out of range',  (c) => ({ ...c, event: Uint8Array.of(0, 0, 99) }),    'column "event" is 99 at 2'],
    ['with NaN joules',             (c) => ({ ...c, booked_lo_j: Float64Array.of(0, Number.NaN, 0) }), 'column "booked_lo_j" is NaN at 1'],
    ['with NaN watts that count',   (c) => ({ ...c, power_w: Float64Array.of(0, 0, Number.NaN), power_valid: Uint8Array.of(1, 1, 1) }), 'column "power_w" is NaN at 2'],
  ])('%s are refused', (_, spoil, message) => {
    const writer = create('samples');
    expect(() => writer.appendColumns(spoil(columnsOf(3, 1)), names)).toThrow(message);
    expect(writer.pendingRows).toBe(0);
  });
});

describe('a full disk', () => {
  test('is told with the file, and what was flushed stays readable', ({ skip }) => {
    const disk = smallDisk();
    if (typeof disk !== 'string') return skip(`no small file system here: ${disk.reason}`);
    try {
      const writer = SegmentWriter.create({
        folder: disk,
        file: 'texts-0.arrows',
        table: 'texts',
        sitting: 0,
        metadata: {},
      });
      let flushed = 0;
      const fill = () => {
        for (;;) {
          writer.append([textRow(`q${flushed}`, { text: 'x'.repeat(3000) })]);
          writer.flush();
          flushed += 1;
        }
      };
      expect(fill).toThrowError(
        expect.objectContaining({
          name: 'PerwattError',
          code: 'DISK_FULL',
          message: `no space left for ${writer.path}`,
        }),
      );
      expect(flushed).toBeGreaterThan(3);
      const { rows, info } = readSegment(writer.path, 'texts');
      expect(rows).toHaveLength(flushed);
      expect(info.torn).toBeNull();
      expect(() => writer.append([textRow('more')])).toThrowError(
        expect.objectContaining({ code: 'DISK_FULL' }),
      );
      expect(() => writer.close()).toThrowError(expect.objectContaining({ code: 'DISK_FULL' }));
      const next = {
        folder: disk,
        file: 'texts-1.arrows',
        table: 'texts',
        sitting: 1,
        metadata: { pad: 'x'.repeat(40_000) },
      } as const;
      expect(() => SegmentWriter.create(next)).toThrowError(expect.objectContaining({ code: 'DISK_FULL' }));
      expect(readdirSync(disk)).toEqual(['texts-0.arrows']);
    } finally {
      execFileSync('umount', [disk]);
    }
  });

  test('shows in the stream writer as the system tells it', ({ skip }) => {
    const fd = fullDevice();
    if (fd === null) return skip('no /dev/full here');
    const writer = new SyncStreamWriter(fd, arrowSchema('texts'));
    expect(() => writer.flush()).toThrowError(expect.objectContaining({ code: 'ENOSPC' }));
    expect(writer.durableBytes).toBe(0);
  });
});

function smallDisk(): string | { reason: string } {
  const at = join(folder, 'disk');
  mkdirSync(at);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', at], { stdio: 'pipe' });
    return at;
  } catch (error) {
    return { reason: String(error).split('\n')[0] ?? '' };
  }
}

function fullDevice(): number | null {
  try {
    return openSync('/dev/full', 'w');
  } catch {
    return null;
  }
}
