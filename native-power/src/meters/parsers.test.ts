import { fc, test as property } from '@fast-check/vitest';
import { describe, expect, test } from 'vitest';
import { fileStampNs, meterStampNs } from './civil-time.js';
import { dcmiReading } from './dcmi.js';
import { jsonReading } from './http-json.js';
import { pointerParts } from './json-pointer.js';
import { prometheusReading, queryReading } from './prometheus.js';
import { prometheusLine } from './prometheus-text.js';
import { parseCount, parseRanges, parseSample, stampBounds } from './ptd-protocol.js';
import { type MeterUnit, quantityOf, unitOf } from './quantity.js';
import { csvCells, type RowFormat, rowReader } from './row-format.js';

const missing = (reason: string) => ({ missing: reason });

// biome-ignore format: a table is read in columns
test.each<[string, MeterUnit, unknown, string]>([
  ['42.5',    'W',   { power_w: 42.5 },              'a power'],
  ['42',      'mW',  { power_w: 0.042 },             'in milliwatts'],
  ['10.5',    'Wh',  { energy_uj: 37_800_000_000n }, 'a plug counts watt-hours'],
  ['0.001',   'kWh', { energy_uj: 3_600_000_000n },  'a bill counts kilowatt-hours'],
  ['1e3',     'J',   { energy_uj: 1_000_000_000n },  'an exponent'],
  ['0',       'W',   { power_w: 0 },                 'nothing drawn is a number'],
  ['-0.1',    'W',   missing('negative'),            'power flows one way'],
  ['-5',      'J',   missing('negative'),            'a counter has no sign'],
  ['NaN',     'W',   missing('parse'),               'not a number'],
  ['+Inf',    'W',   missing('parse'),               'not finite'],
  ['',        'W',   missing('parse'),               'empty'],
  ['12 W',    'W',   missing('parse'),               'a unit of its own'],
  ['0x10',    'W',   missing('parse'),               'no other bases'],
  ['1e999',   'W',   missing('parse'),               'beyond what a number holds'],
  ['1e30',    'J',   missing('implausible'),         'more than 64 bits of microjoules'],
])('%j in %s: %s', (text, unit, expected) => expect(quantityOf(text, unit)).toEqual(expected));

test('an unknown unit is refused with those that are known', () =>
  expect(() => unitOf('hp')).toThrowError(
    expect.objectContaining({ code: 'INPUT_INVALID', hint: expect.stringContaining('kWh') }),
  ));

// biome-ignore format: a table is read in columns
test.each<[string, string, unknown, string]>([
  ['{"apower":12.5}',                     '/apower',              { power_w: 12.5 },   'a plug'],
  ['{"PowerWatts":{"Reading":344}}',      '/PowerWatts/Reading',  { power_w: 344 },    'Redfish'],
  ['{"a":[{"p":"7.5"}]}',                 '/a/0/p',               { power_w: 7.5 },    'a number as text, in a list'],
  ['{"a/b":{"~":3}}',                     '/a~1b/~0',             { power_w: 3 },      'escaped keys'],
  ['5',                                   '',                     { power_w: 5 },      'the whole document'],
  ['{"apower":null}',                     '/apower',              missing('absent'),   'null is no number, and not 0'],
  ['{}',                                  '/apower',              missing('absent'),   'no such key'],
  ['{}',                                  '/constructor/length',  missing('absent'),   'nor one that every object has'],
  ['{"apower":true}',                     '/apower',              missing('parse'),    'a truth value'],
  ['{"apower":{}}',                       '/apower',              missing('parse'),    'an object'],
  ['{"apower":1',                         '/apower',              missing('parse'),    'cut off'],
])('%s at %s: %s', (text, pointer, expected) =>
  expect(jsonReading(text, pointerParts(pointer), 'W')).toEqual(expected));

test('what is no pointer is refused', () =>
  expect(() => pointerParts('apower')).toThrowError(expect.objectContaining({ code: 'INPUT_INVALID' })));

const page = `# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",note="a \\"b\\" {c} \\\\"} 61.25 1700000000000
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b"} 9223372036854775792
DCGM_FI_DEV_POWER_USAGE{gpu="2"} 140737488355328.000000
DCGM_FI_DEV_POWER_USAGE{gpu="3"} 2147483632
DCGM_FI_DEV_POWER_USAGE_MAX{gpu="0"} 700
joules_total 12.5 # {trace="x"} 1
broken{gpu="0 1
nan_watts NaN`;

// biome-ignore format: a table is read in columns
test.each<[string, Record<string, string>, MeterUnit, unknown, string]>([
  ['DCGM_FI_DEV_POWER_USAGE', { gpu: '0' },        'W', { power_w: 61.25 },         'one series, its stamp left aside'],
  ['DCGM_FI_DEV_POWER_USAGE', { UUID: 'GPU-a' },   'W', { power_w: 61.25 },         'by another label'],
  ['DCGM_FI_DEV_POWER_USAGE', { note: 'a "b" {c} \\' }, 'W', { power_w: 61.25 },    'escaped labels'],
  ['DCGM_FI_DEV_POWER_USAGE', { gpu: '1' },        'W', missing('sentinel'),        'a blank 64-bit integer'],
  ['DCGM_FI_DEV_POWER_USAGE', { gpu: '2' },        'W', missing('sentinel'),        'a blank float'],
  ['DCGM_FI_DEV_POWER_USAGE', { gpu: '3' },        'W', missing('sentinel'),        'a blank 32-bit integer'],
  ['DCGM_FI_DEV_POWER_USAGE', { gpu: '9' },        'W', missing('absent: no series matches'), 'no such label'],
  ['DCGM_FI_DEV_POWER_USAGE', {},                  'W', missing('ambiguous: 4 series match'), 'never the first of several'],
  ['joules_total',            {},                  'J', { energy_uj: 12_500_000n }, 'no labels, an exemplar'],
  ['nan_watts',               {},                  'W', missing('parse'),           'NaN is how an exporter says nothing'],
  ['broken',                  {},                  'W', missing('absent: no series matches'), 'a line that never ends'],
])('metric %s %j in %s: %s', (metric, labels, unit, expected) =>
  expect(prometheusReading(page, { id: 'p', url: 'http://x', metric, labels, unit })).toEqual(expected));

// biome-ignore format: a table is read in columns
test.each<[string, string, unknown, string]>([
  ['vector', '[{"metric":{},"value":[1,"61.5"]}]', { power_w: 61.5 },                     'one series'],
  ['scalar', '[1,"5"]',                            { power_w: 5 },                        'a scalar'],
  ['vector', '[]',                                 missing('absent: no series matches'),  'nothing'],
  ['vector', '[{"value":[1,"1"]},{"value":[1,"2"]}]', missing('ambiguous: 2 series match'), 'too many'],
  ['vector', '[{"value":[1,"9223372036854776000"]}]', missing('sentinel'),                'a blank that went through a float'],
  ['vector', '[{"value":1}]',                      missing('absent: no series matches'),  'no value'],
  ['vector', '[{"value":[1,7]}]',                  missing('parse'),                      'not as text'],
])('query answered with a %s %s: %s', (resultType, result, expected) =>
  expect(queryReading(`{"status":"success","data":{"resultType":"${resultType}","result":${result}}}`, 'W')).toEqual(expected));

test('an error of the server is no number', () =>
  expect(queryReading('{"status":"error","error":"x"}', 'W')).toEqual(missing('parse')));

property.prop([
  fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), fc.string({ maxLength: 20 }), { maxKeys: 5 }),
])('labels survive being written', (labels) => {
  const written = Object.entries(labels).map(
    ([key, value]) =>
      `${key}="${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`,
  );
  expect(prometheusLine(`m{${written.join(',')}} 1`)).toEqual({
    name: 'm',
    labels: expect.objectContaining(labels),
    value: '1',
  });
});

// biome-ignore format: a table is read in columns
test.each<[string, unknown, string]>([
  ['    Instantaneous power reading:                   216 Watts\n    Power reading state is:                   activated\n',   { power_w: 216 },       'ipmitool'],
  ['    Instantaneous power reading:                     0 Watts\n    Power reading state is:                   deactivated\n', missing('deactivated'), 'a controller that doesn’t measure'],
  ['Current Power                        : 164 Watts\nPower Measurement                    : Active\n',        { power_w: 164 },       'FreeIPMI'],
  ['Current Power                        : 164 Watts\nPower Measurement                    : Not Available\n', missing('deactivated'), 'its number counts for nothing'],
  ['    Power reading state is:                   activated\n',                                                 missing('parse'),       'no number'],
  ['DCMI request failed because: Invalid command (c1)',                                                        missing('parse'),       'no answer'],
])('%j is %j: %s', (text, expected) => expect(dcmiReading(text)).toEqual(expected));

// biome-ignore format: a table is read in columns
test.each<[string, unknown, string]>([
  ['Ranges,0,5.0,1,300.0',    { amps: '5.0', volts: 'Auto' },  'a fixed range is set again, an automatic one is left to itself'],
  ['Ranges,1,5.0,0,300.0',    { amps: 'Auto', volts: '300.0' }, 'the other way round'],
  ['Ranges,-1,-1.0,0,-1.0',   { amps: 'Auto', volts: 'Auto' }, 'unknown ranges go to automatic'],
  ['Ranges,0,5.0',            null,                            'cut off'],
  ['Error: no such command',  null,                            'refused'],
])('%s restores %j: %s', (line, expected) => expect(parseRanges(line)).toEqual(expected));

// biome-ignore format: a table is read in columns
test.each<[string, number | null, string]>([
  ['Last 2 samples', 2, 'two'], ['Last 0 samples', 0, 'none'], ['last 1 sample', 1, 'lenient'],
  ['Error: Unknown command', null, 'refused'], ['Last 99999999 samples', null, 'more than any daemon keeps'],
])('%s announces %j: %s', (line, count) => expect(parseCount(line)).toBe(count));

const at = 'Time,11-29-2026 23:59:58.500';
const at_ns = BigInt(Date.UTC(2026, 10, 29, 23, 59, 58, 500)) * 1_000_000n;

// biome-ignore format: a table is read in columns
test.each<[string, unknown, string]>([
  [`${at},Watts,208.5,Volts,230,Amps,1,PF,0.9,Mark,m`,                     [{ power_w: 208.5 }, missing('absent')],           'one channel'],
  [`${at},Watts,300,Volts,-1.0,Amps,-1,PF,-1,Mark,m,Ch1,Watts,200,Volts,1`, [{ power_w: 300 }, { power_w: 200 }],              'the whole, then the channel'],
  [`${at},Watts,-1.000,Volts,230,Mark,m,Ch1,Watts,7`,                      [missing('unavailable'), { power_w: 7 }],          '-1 is null, and not a power'],
  [`${at},Watts,300,Mark,m,Ch9,Watts,9`,                                   [{ power_w: 300 }, missing('absent')],             'a channel nobody asked for'],
  [`${at},Volts,230`,                                                      [missing('absent'), missing('absent')],            'no power at all'],
  [`${at},Watts`,                                                          [missing('parse'), missing('absent')],             'cut off'],
])('%s: %s', (line, watts) => expect(parseSample(line, 1)).toEqual({ meter_ns: at_ns, watts }));

test.each(['', 'Time', 'Time,yesterday,Watts,1', 'Watts,1', 'Time,13-29-2026 10:00:00.000,Watts,1'])(
  '%j is no sample',
  (line) => expect(parseSample(line, 0)).toBeNull(),
);

test('stamps are read to the nanosecond', () => {
  expect(meterStampNs('01-02-2026 03:04:05.006')).toBe(BigInt(Date.UTC(2026, 0, 2, 3, 4, 5, 6)) * 1_000_000n);
  expect(fileStampNs('1700000000.123456789', 'unix_s')).toBe(1_700_000_000_123_456_789n);
  expect(fileStampNs('1700000000123.5', 'unix_ms')).toBe(1_700_000_000_123_500_000n);
  expect(fileStampNs('1700000000123456789', 'unix_ns')).toBe(1_700_000_000_123_456_789n);
  expect(fileStampNs('2026-11-29T23:59:58.5+01:00', 'iso')).toBe(
    BigInt(Date.UTC(2026, 10, 29, 22, 59, 58, 500)) * 1_000_000n,
  );
  for (const bad of ['', 'x', '-1', '2026-11-29T23:59:58']) expect(fileStampNs(bad, 'iso')).toBeNull();
  expect(fileStampNs('99999999999999999999', 'unix_s')).toBeNull();
});

describe('the time of a sample on our clock', () => {
  property.prop([
    fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }),
    fc.array(fc.integer({ min: 100, max: 3000 }), { minLength: 1, maxLength: 40 }),
    fc.integer({ min: 0, max: 999 }),
  ])('lies between the bounds, whatever the zone and the phase', (offset, waits, phase) => {
    const second = 1_000_000_000n;
    const bounds = stampBounds(second);
    let now = 10n ** 15n;
    let taken = now + BigInt(phase) * 1_000_000n;
    let newest: bigint | null = null;
    for (const wait of waits) {
      now += BigInt(wait) * 1_000_000n;
      while (taken <= now) {
        newest = taken;
        bounds.arrived(taken - offset, now + 2_000_000n);
        taken += second;
      }
      if (newest === null) continue;
      bounds.lacked(newest + second - offset, now);
      const { from, to } = bounds.place(newest - offset);
      expect(from).toBeLessThanOrEqual(newest);
      expect(to).toBeGreaterThanOrEqual(newest);
      expect(to - from).toBeLessThanOrEqual(second + 2_000_000n);
    }
  });

  test('a clock that was set is noticed, and the old bounds forgotten', () => {
    const bounds = stampBounds(1000n);
    bounds.arrived(0n, 100n);
    bounds.lacked(1000n, 50n);
    bounds.lacked(1000n, 5000n);
    expect(bounds.place(4000n)).toEqual({ from: 8000n, to: 9000n });
  });
});

// biome-ignore format: a table is read in columns
test.each<[string, string[] | null, string]>([
  ['a,b,c',            ['a', 'b', 'c'],  'plain'],
  ['"a,b",c',          ['a,b', 'c'],     'a comma in quotes'],
  ['"say ""hi""",2',   ['say "hi"', '2'], 'a quote in quotes'],
  ['a,',               ['a', ''],        'an empty last cell'],
  ['',                 [''],             'an empty line'],
  ['"a',               null,             'a quote that never closes'],
  ['"a"b,c',           null,             'text behind a quote'],
])('%j has cells %j: %s', (line, cells) => expect(csvCells(line, ',')).toEqual(cells));

test('rows are read by name, by number and by key', () => {
  const own = { time_format: 'unix_s', unit: 'W' } as const;
  const csv = rowReader({ ...own, format: 'csv', time: 'ts', value: 'watts' });
  expect(csv.take('note,ts,watts')).toBe('header');
  expect(csv.take('x,1700000000,12.5')).toEqual({
    wall_ns: 1_700_000_000_000_000_000n,
    value: { power_w: 12.5 },
  });
  for (const bad of ['x,1700000000', 'x,never,12', 'x,1700000000,-', '']) expect(csv.take(bad)).toBeNull();
  const bare = rowReader({ ...own, format: 'csv', time: 0, value: 1, separator: ';' });
  expect(bare.take('1;2')).toEqual({ wall_ns: 1_000_000_000n, value: { power_w: 2 } });
  const json = rowReader({ ...own, format: 'jsonl', time: 't', value: '/p/total' } satisfies RowFormat);
  expect(json.take('{"t":1.5,"p":{"total":3}}')).toEqual({ wall_ns: 1_500_000_000n, value: { power_w: 3 } });
  for (const bad of ['{"t":1.5,"p":', '[]', '{"t":null,"p":{"total":3}}']) expect(json.take(bad)).toBeNull();
});
