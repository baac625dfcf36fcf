import type { Baseline, CellFile, Sitting } from '@perwatt/records';
import { expect, test } from 'vitest';
import { countQueries, type JudgeInput, judgeCell } from './judge-cell.js';
import { protocols } from './protocols.js';

const baseline = (kind: Baseline['kind'], when: Baseline['when'], power_w: number): Baseline => ({
  kind,
  when,
  start_ns: '0',
  end_ns: '1',
  shared: false,
  powers: [{ domain: 'p0', power_w, lo_w: power_w - 0.1, hi_w: power_w + 0.1, reason: null }],
});

const sitting: Sitting = {
  sitting: 0,
  state: 'closed',
  boot_id: null,
  start_ns: '0',
  end_ns: String(700e9),
  warmup_calls: 1,
  baselines: [baseline('loaded_idle', 'before', 10), baseline('loaded_idle', 'after', 10.1)],
  foreign_load_ratio: 0.01,
  suspended: false,
};

const ledger = {
  domain: 'p0',
  in_total: true,
  meter_j: 100,
  queries_j: 90,
  unattributed_j: 10,
  lost_work_j: 0,
  coverage_ratio: 1,
  reason: null,
};

const cell = (change: Partial<CellFile> = {}): CellFile => ({
  schema_version: 1,
  run_id: 'r',
  cell_id: 'c',
  point: { model: 'm', accelerator: 'a', dataset: 'd', strategy: 's', load: 'c1' },
  position: 0,
  seed: 1,
  repeats: 5,
  concurrency: 1,
  max_tokens: 8,
  status: 'running',
  failure: null,
  verdict: null,
  provenance: null,
  sittings: [sitting],
  ledgers: [ledger],
  segments: [],
  ...change,
});

const queries = (n: number, change: { readonly status?: string; readonly verdict?: string } = {}) =>
  Array.from({ length: n }, () => ({ status: 'answered', verdict: 'correct', ...change }));

type Change = Partial<Omit<JudgeInput, 'queries'>> & { readonly queries?: ReturnType<typeof queries> };

const judge = ({ queries: rows = queries(100), ...change }: Change = {}) =>
  judgeCell({
    cell: cell(),
    protocol: protocols.strict,
    quick: false,
    queries: countQueries(rows, () => calls),
    expected: 100,
    ...change,
  });

const call = (error_kind: string | null, error_message: string | null) => ({
  status: error_kind === null ? ('ok' as const) : ('http_error' as const),
  error_kind,
  error_message,
});
const calls = [
  call('timeout', 'slow'),
  call(null, null),
  call(null, null),
  call('http_404', 'no such path /x'),
  call('http_404', 'no such path /x'),
];

const failed = (n: number) => [...queries(100 - n), ...queries(n, { status: 'failed', verdict: 'error' })];
const drifted = [baseline('loaded_idle', 'before', 10), baseline('loaded_idle', 'after', 12)];
const late = [baseline('loaded_idle', 'before', 10), baseline('host_idle', 'after', 5)];
const early = [baseline('loaded_idle', 'before', 10), baseline('host_idle', 'before', 5)];

const far = { endpoint: { kind: 'http', endpoint: 'http://gpu-host/v1' } } as CellFile['provenance'];

// biome-ignore format: a table is read in columns
test.each<[change: Change, state: string, codes: string[], why: string]>([
  [{},                                                                        'valid',   [],                 'nothing is the matter'],
  [{ quick: true },                                                           'flagged', ['quick'],          'a first look'],
  [{ cell: cell({ sittings: [sitting, sitting] }) },                          'flagged', ['resumed'],        'two sittings'],
  [{ queries: failed(1) },                                                    'valid',   [],                 '1 % failed is not above 1 %'],
  [{ queries: failed(2) },                                                    'flagged', ['failed_queries'], 'above 1 %'],
  [{ queries: failed(5) },                                                    'flagged', ['failed_queries'], '5 % failed is not above 5 %'],
  [{ queries: failed(6) },                                                    'invalid', ['failed_queries'], 'above 5 %'],
  [{ queries: [...queries(98), ...queries(2, { verdict: 'unscored' })] },     'flagged', ['unscored'],       'unscored above 1 %'],
  [{ queries: queries(99) },                                                  'flagged', ['incomplete'],     'a query is missing'],
  [{ cell: cell({ ledgers: [] }) },                                           'flagged', ['no_power'],       'nothing was read'],
  [{ cell: cell({ ledgers: [], provenance: far }) },                          'flagged', ['endpoint_elsewhere'], 'this host meters no other'],
  [{ cell: cell({ ledgers: [{ ...ledger, meter_j: null, reason: 'low_coverage' }] }) }, 'invalid', ['energy_missing'], 'a domain of the total has no energy'],
  [{ cell: cell({ ledgers: [ledger, { ...ledger, in_total: false, meter_j: null }] }) }, 'valid', [],        'a domain outside the total may lack it'],
  [{ cell: cell({ sittings: [{ ...sitting, end_ns: String(599e9) }] }) },     'invalid', ['window_short'],   'strict wants 600 s'],
  [{ cell: cell({ sittings: [{ ...sitting, foreign_load_ratio: 0.2 }] }) },   'invalid', ['foreign_load'],   'strict does not forgive it'],
  [{ cell: cell({ sittings: [{ ...sitting, foreign_load_ratio: null }] }) },  'valid',   [],                 'not known is not foreign'],
  [{ cell: cell({ sittings: [{ ...sitting, suspended: true }] }) },           'invalid', ['suspended'],      'the host slept'],
  [{ cell: cell({ sittings: [{ ...sitting, baselines: drifted }] }) },        'invalid', ['baseline_drift'], '20 % of drift'],
  [{ cell: cell({ sittings: [{ ...sitting, baselines: drifted }] }), protocol: protocols.standard }, 'flagged', ['baseline_drift'], 'standard only flags it'],
  [{ cell: cell({ sittings: [{ ...sitting, baselines: late }] }) },           'flagged', ['baseline_late'],  'the idle host is known from after it only'],
  [{ cell: cell({ sittings: [{ ...sitting, baselines: early }] }) },          'valid',   [],                 'the idle host is known from before it only'],
])('%# %s is %s %j: %s', (change, state, codes) => {
  const verdict = judge(change);
  expect([verdict.state, verdict.reasons.map((r) => r.code)]).toEqual([state, codes]);
});

test('calls are read for their failures only where a query failed, and long messages are cut', () => {
  const unread = () => {
    throw new Error('calls were read');
  };
  expect(countQueries(queries(3), unread).why).toBeNull();
  expect(countQueries(failed(3), () => []).why).toBeNull();
  const long = countQueries(failed(3), () => [call('http_500', 'x'.repeat(900))]).why;
  expect(long).toMatch(/^http_500: x{100,}…$/);
  expect(long?.length).toBeLessThan(220);
});

test('every reason says what is the matter with its figures', () => {
  const verdict = judge({ quick: true, queries: failed(6), cell: cell({ ledgers: [] }) });
  expect(verdict.reasons.map((r) => r.text)).toEqual([
    'protocol quick: 60 s baselines, 5 repeats',
    '6 of 100 queries failed, mostly by http_404: no such path /x',
    'no power source was read',
  ]);
  expect(verdict.reasons.every((r) => r.fix === null || /^[A-Z].*\.$/.test(r.fix))).toBe(true);
});
