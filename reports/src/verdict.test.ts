import type { CellFlag, CellMetrics } from '@perwatt/metrics';
import type { CellFile, VerdictReason } from '@perwatt/records';
import { expect, test } from 'vitest';
import { verdictOf } from './verdict.js';

const reason = (code: string): VerdictReason => ({ code, text: code, fix: null });
const cell = (changes: Partial<CellFile>) =>
  ({ status: 'done', failure: null, verdict: null, ...changes }) as CellFile;
const flags = (...found: CellFlag[]) => ({ flags: found }) as unknown as CellMetrics;
const drift: CellFlag = { code: 'baseline_drift', severity: 'flagged', text: 'drift' };
const failures: CellFlag = { code: 'failed_queries', severity: 'invalid', text: 'failures' };
const flagged = { state: 'flagged', reasons: [reason('baseline_drift')] } as const;

// biome-ignore format: a table is read in columns
test.each<[why: string, cell: CellFile, metrics: CellMetrics, state: string, codes: string[]]>([
  ['nothing is the matter',              cell({}),                                        flags(),         'valid',   []],
  ['what the harness found stands',      cell({ verdict: flagged }),                      flags(),         'flagged', ['baseline_drift']],
  ['the same found twice is told once',  cell({ verdict: flagged }),                      flags(drift),    'flagged', ['baseline_drift']],
  ['the numbers may be worse',           cell({ verdict: flagged }),                      flags(failures), 'invalid', ['baseline_drift', 'failed_queries']],
  ['the numbers alone',                  cell({}),                                        flags(drift),    'flagged', ['baseline_drift']],
  ['a failed cell is invalid',           cell({ status: 'failed', failure: 'no model' }), flags(),         'invalid', ['failed']],
  ['an unfinished cell is invalid',      cell({ status: 'running' }),                     flags(),         'invalid', ['unfinished']],
])('%s', (_, file, metrics, state, codes) => {
  const verdict = verdictOf(file, metrics);
  expect(verdict.state).toBe(state);
  expect(verdict.reasons.map(({ code }) => code)).toEqual(codes);
});
