import type { CallRow, TextRow } from '@perwatt/core';
import { queryId } from '@perwatt/records';
import { expect, test } from 'vitest';
import type { Cell } from './plan.js';
import { gradedQuery } from './query-row.js';
import { lastWord, parallel, sums } from './world.fixture.js';

const cell: Cell = {
  id: 'c-1',
  point: { model: 'm', accelerator: 'a', dataset: 'd', strategy: 's', load: 'c1' },
  position: 0,
  block: 0,
  block_position: 0,
  seed: 1,
  repeats: 2,
  concurrency: 1,
  loop: { kind: 'closed', concurrency: 1, ramp_s: 0 },
  max_tokens: 8,
  accelerator: { id: 'a', kind: 'cpu', gpu: false },
  model: { sha256: null, request_model: 'm', weight_bytes: null, client: () => null as never },
  models: [],
  dataset: sums('d', 3),
  grader: lastWord,
  mode: 'robust',
  strategy: parallel('s', 1),
  params: {},
  aids: { worldOf: null, language: null, router: null },
  variant: null,
  settings: {
    quantisation: null,
    context_tokens: null,
    engine_flags: null,
    parallel: null,
    reasoning_effort: null,
  },
  sampling: {},
  rule: null,
  served_by: 'm',
  load_key: 'm',
  judged: {},
  hashes: { declared: '', resolved: '' },
};

const answer = (change: Partial<TextRow> = {}): TextRow => ({
  run_id: 'r',
  cell_id: 'c-1',
  query_id: queryId('c-1', 'd-1', 1),
  call_id: null,
  sitting: 0,
  kind: 'answer',
  text: 'It is 2',
  detail: JSON.stringify({ status: 'answered', call_id: '0', decisions: [], candidates: [] }),
  ...change,
});

const call = (call_id: string, change: Partial<CallRow> = {}) =>
  ({
    call_id,
    round: 0,
    parent_ids: null,
    dispatch_ns: 10n,
    end_ns: 20n,
    status: 'ok',
    finish_reason: 'stop',
    prompt_tokens: 5,
    completion_tokens: 3,
    cached_tokens: null,
    reasoning_tokens: null,
    token_source: 'server_usage',
    ...change,
  }) as CallRow;

const row = (change: Partial<TextRow>, calls: readonly CallRow[]) =>
  gradedQuery(answer(change), { cell, run_id: 'r', calls, energy: null }).row;

test('tokens sum over calls, the heaviest chain over rounds, times from first dispatch to last end', () => {
  const calls = [
    call('0'),
    call('1', { completion_tokens: 7, end_ns: 30n }),
    call('2', { round: 1, parent_ids: '0 1', completion_tokens: 4, dispatch_ns: 30n, end_ns: 44n }),
  ];
  expect(row({}, calls)).toMatchObject({
    item_id: 'd-1',
    repeat: 1,
    calls: 3,
    rounds: 2,
    prompt_tokens: 15,
    completion_tokens: 14,
    sequential_tokens: 11,
    cached_tokens: null,
    start_ns: 10n,
    end_ns: 44n,
    token_source: 'server_usage',
    verdict: 'correct',
    score: 1,
    extracted: '2',
    energy_gross_j: null,
    energy_method: 'none',
  });
});

test('one call without a token count leaves no sum: the rest would be too small', () => {
  const calls = [call('0'), call('1', { completion_tokens: null, token_source: null, status: 'timeout' })];
  expect(row({}, calls)).toMatchObject({
    completion_tokens: null,
    sequential_tokens: null,
    prompt_tokens: 10,
    token_source: null,
    error_code: 'timeout',
  });
});

test('an abstention is unparsed, a failure is an error, both score 0', () => {
  const detail = (status: string) => JSON.stringify({ status, reason: 'none', candidates: [] });
  expect(row({ text: null, detail: detail('abstained') }, [call('0')])).toMatchObject({
    status: 'abstained',
    verdict: 'unparsed',
    score: 0,
  });
  expect(row({ text: null, detail: detail('failed') }, [call('0', { status: 'timeout' })])).toMatchObject({
    status: 'failed',
    verdict: 'error',
    score: 0,
    error_code: 'timeout',
  });
});

test('a row of another data set is refused', () => {
  expect(() => row({ query_id: queryId('c-1', 'nowhere', 0) }, [call('0')])).toThrow(/no item for query/);
});
