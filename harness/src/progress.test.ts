import { type CallRow, instant } from '@perwatt/core';
import { expect, test } from 'vitest';
import type { Cell } from './plan.js';
import { createProgress } from './progress.js';
import { sums } from './world.fixture.js';

const point = { model: 'm', accelerator: 'a', dataset: 'd', strategy: 's', load: 'c1' };
const cell = { point, dataset: sums('d', 4), repeats: 1 } as unknown as Cell;
const call = { completion_tokens: 10 } as CallRow;

function scripted() {
  let now = 0n;
  const progress = createProgress([cell, cell], { now: () => instant(now) });
  return {
    progress,
    after: (seconds: number) => {
      now += BigInt(Math.round(seconds * 1e9));
    },
  };
}

test('rates and the time left come from what was really done', () => {
  const { progress, after } = scripted();
  expect(progress.snapshot()).toMatchObject({ queries: 8, queries_done: 0, tokens_per_s: null, eta_s: null });
  progress.cellStarted(cell, 4);
  progress.phase('measuring');
  for (let i = 0; i < 3; i++) {
    after(1);
    progress.callEnded(call);
    progress.queryEnded();
  }
  expect(progress.snapshot()).toMatchObject({
    queries_done: 3,
    cell_queries_done: 3,
    cell_queries: 4,
    tokens_per_s: 10,
    eta_s: 5,
  });
  progress.phase('cool-down');
  expect(progress.snapshot().tokens_per_s).toBeNull();
});

test('queries that were there before count as done and not as speed', () => {
  const { progress, after } = scripted();
  progress.cellStarted(cell, 1);
  after(2);
  progress.queryEnded();
  expect(progress.snapshot()).toMatchObject({ queries_done: 4, eta_s: 8 });
});

test('a finished cell keeps its time, and when all is done nothing is left to wait for', () => {
  const { progress, after } = scripted();
  for (let i = 0; i < 2; i++) {
    progress.cellStarted(cell, 4);
    after(6);
    for (let n = 0; n < 4; n++) progress.queryEnded();
    const done = progress.cellEnded({
      point,
      status: 'done',
      failure: null,
      verdict: 'valid',
      accuracy: 1,
      queries: 4,
    });
    expect(done.seconds).toBe(6);
  }
  expect(progress.snapshot()).toMatchObject({ cells_done: 2, queries_done: 8, eta_s: null, point: null });
});
