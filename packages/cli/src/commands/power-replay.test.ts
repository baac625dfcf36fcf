import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { powerSources } from '@perwatt/native-power';
import { Command } from 'commander';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Io } from '../io.js';
import { powerCommand } from './power.js';

const noAddon = powerSources().length === 0;
if (noAddon) process.stderr.write('tests with the addon skipped: it is not built\n');

async function replay(content: string, ...flags: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-replay-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'cases.json'), content);
  const out: string[] = [];
  const io: Io = {
    print: (line) => void out.push(line),
    printError: () => {},
    draw: () => {},
    stdin: Readable.from([]),
    env: {},
    cwd: folder,
    columns: null,
    wallTime: () => new Date(0),
    signal: new AbortController().signal,
    setExitCode: () => {},
  };
  const program = new Command('perwatt').addCommand(powerCommand(io));
  await program.parseAsync(['power', 'replay', 'cases.json', ...flags], { from: 'user' });
  return out;
}

const counter = (id: string, samples: readonly unknown[], changes: object = {}) => ({
  id,
  kind: 'counter',
  input: {
    unit: 'uJ',
    domains: [{ id: 'package-0', max: 262_143_328_850, cap_w: 1000, u_s: 0.001, samples, ...changes }],
  },
});
const wrap = counter('wrap', [
  [0, 262_143_000_000],
  [0.1, 1_000_000],
]);
const check = { id: 'check', kind: 'gauge', input: { counter_joules: 100, gauge_joules: 111 } };

describe.skipIf(noAddon)('with the addon', () => {
  test('one fixture is one JSON object, with everything that was counted', async () => {
    const [line = '', ...more] = await replay(JSON.stringify(wrap), '--json');
    expect(more).toEqual([]);
    expect(JSON.parse(line)).toEqual({
      id: 'wrap',
      kind: 'counter',
      domains: {
        'package-0': {
          joules: 1.328911,
          lo: 1.328911,
          hi: 1.328911,
          wraps: 1,
          resets: 0,
          glitches: 0,
          missing: 0,
          out_of_range: 0,
          clock: 0,
          alias: false,
          gap_s: 0,
          valid: true,
          events: ['first', 'wrap'],
        },
      },
    });
  });

  test('a number that was read once is no energy', async () => {
    const [line = ''] = await replay(JSON.stringify(counter('once', [[0, 5]])), '--json');
    const { domains } = JSON.parse(line) as { domains: Record<string, unknown> };
    expect(domains['package-0']).toMatchObject({ joules: null, reason: 'one-sample', valid: false });
  });

  test('an array is a line each, for people too', async () => {
    const lines = await replay(JSON.stringify([wrap, check]));
    expect(lines.map((line) => line.split('  ').slice(0, 2))).toEqual([
      ['wrap', 'counter'],
      ['check', 'gauge'],
    ]);
    expect(lines[1]).toContain('cross_check 1.11  flag "cross-check"');
  });
});

// biome-ignore format: a table is read in columns
test.each<[why: string, fixture: unknown]>([
  ['an unknown kind',        { id: 'x', kind: 'weather', input: {} }],
  ['an unknown unit',        { id: 'x', kind: 'counter', input: { unit: 'cal', domains: [] } }],
  ['an unknown generator',   { id: 'x', kind: 'gauge', input: { window: [0, 1], gauge: { gen: 'dice' } } }],
  ['an unknown decoder',     { id: 'x', kind: 'decode', input: { source: 'tea-leaves' } }],
  ['an unknown topology',    { id: 'x', kind: 'topology', input: { seconds: 1, stars: [] } }],
  ['a number too long',      counter('x', [[0, 2 ** 60]])],
  ['an unknown setup',       { id: 'x', kind: 'access', input: { variants: [{ setup: 'the disk is on fire' }] } }],
])('%s is said to be unsupported, with a reason and no number', async (_why, fixture) => {
  const [line = ''] = await replay(JSON.stringify(fixture), '--json');
  expect(JSON.parse(line)).toEqual({
    id: 'x',
    kind: expect.any(String),
    unsupported: expect.stringMatching(/\w/),
  });
});

// biome-ignore format: a table is read in columns
test.each<[why: string, content: string, message: RegExp]>([
  ['not JSON',               '{',                                                              /^cannot read fixtures of .*cases\.json: /],
  ['no id',                  '{"kind": "counter"}',                                            /^fixture 1\.id is undefined, not a text$/],
  ['the second of two',      JSON.stringify([check, 7]),                                       /^fixture 2 is 7, not an object$/],
  ['no input',               '{"id": "a", "kind": "gauge"}',                                   /^a\.input is undefined, not an object$/],
  ['a number as text',       JSON.stringify(counter('a', [], { cap_w: '1' })),                 /^a\.input\.domains\[0\]\.cap_w is "1", not a number$/],
  ['a ramp without end',     JSON.stringify(counter('a', [], { ramp: { watts: 1, step_s: 1, n: 1e12, start: 0, mod: 9 } })), /^a\.input\.domains\[0\]\.ramp\.n is 1000000000000, not a whole number up to 1000000$/],
  ['a draw without end',     JSON.stringify({ id: 'a', kind: 'gauge', input: { window: [0, 10], gauge: { gen: 'constant', w: 1, hz: 1e9, t0: 0, t1: 1e6 } } }), /^from 0 s to 1000000 s at 1000000000 Hz are 1000000000000001 points$/],
  ['a draw that never is read', JSON.stringify({ id: 'a', kind: 'gauge', input: { window: [0, 10], gauge: { gen: 'constant', w: 1, hz: 0, t0: 0, t1: 1 } } }), /^from 0 s to 1 s at 0 Hz are 1 points$/],
  ['half a sample',          JSON.stringify(counter('a', [[1]])),                              /^a\.input\.domains\[0\]\.samples\[0\] is \[1\], not a pair of numbers$/],
])('what is wrong is named: %s', async (_why, content, message) => {
  await expect(replay(content, '--json')).rejects.toThrowError(
    expect.objectContaining({ code: 'INPUT_INVALID', message: expect.stringMatching(message) }),
  );
});
