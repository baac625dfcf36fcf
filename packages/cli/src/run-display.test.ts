import type { ProgressSnapshot } from '@perwatt/harness';
import { expect, onTestFinished, test } from 'vitest';
import { recordedIo } from './io.fixture.js';
import { cellLine, displayLines, pointText, spanText, startDisplay } from './run-display.js';

const point = { model: 'm', accelerator: 'host-cpu', dataset: 'd', strategy: 's', load: 'c4' };

const snapshot: ProgressSnapshot = {
  cells_done: 1,
  cells: 8,
  queries_done: 60,
  queries: 240,
  point,
  phase: 'measuring',
  cell_queries_done: 30,
  cell_queries: 40,
  tokens_per_s: 81.26,
  eta_s: 200,
  results: [
    { point, status: 'done', failure: null, verdict: 'flagged', accuracy: 0.5, queries: 40, seconds: 65 },
  ],
};

test('the display shows where the run stands', () => {
  expect(displayLines(snapshot, { power_w: 31.42, estimated: true })).toEqual([
    '[######··················] cell 2/8  queries 60/240  about 3 min 20 s left',
    '  m × d × s × c4: measuring 30/40',
    '  81.3 tokens/s   ~31.4 W (estimated)   last cell: 50 % right (m × d × s × c4)',
  ]);
});

test('on a narrow terminal the numbers go before the bar', () => {
  expect(displayLines(snapshot, null, 40)[0]).toBe('cell 2/8  queries 60/240  about 3 min 20 s left');
});

test('the display goes by the width that the terminal has at the moment', () => {
  const stop = new AbortController();
  const drawn: string[] = [];
  const { io } = recordedIo({ cwd: '/' });
  let columns = 100;
  const terminal = {
    ...io,
    get columns() {
      return columns;
    },
    signal: stop.signal,
    draw: (text: string) => drawn.push(text),
  };
  const display = startDisplay(terminal, () => ({ snapshot, power: null }));
  onTestFinished(() => display.stop());
  display.log('wide');
  columns = 20;
  display.log('narrow');
  const widest = (text: string | undefined) =>
    Math.max(...(text ?? '').split('\n').map((line) => line.length));
  expect(widest(drawn.at(-1))).toBe(19);
  expect(widest(drawn[1])).toBeGreaterThan(40);
});

test('what is not known yet is left out, never shown as 0', () => {
  const early = { ...snapshot, tokens_per_s: null, eta_s: null, results: [], point: null, cell_queries: 0 };
  expect(displayLines(early, null)).toEqual([
    '[######··················] cell 2/8  queries 60/240',
    '  measuring',
    '  ',
  ]);
});

// biome-ignore format: a table is read in columns
test.each([
  [42.4, '42 s',        'seconds'],
  [200,  '3 min 20 s',  'minutes'],
  [7500, '2 h 5 min',   'hours'],
])('%d s reads %s: %s', (seconds, text) => {
  expect(spanText(seconds)).toBe(text);
});

test('an accelerator of its own is named', () => {
  expect(pointText({ ...point, accelerator: 'gpu0', load: 'c1' })).toBe('m × gpu0 × d × s');
});

test('told to stop, the display leaves the screen before the message comes', () => {
  const stop = new AbortController();
  const drawn: string[] = [];
  const { io } = recordedIo({ cwd: '/' });
  const terminal = { ...io, columns: 80, signal: stop.signal, draw: (text: string) => drawn.push(text) };
  const display = startDisplay(terminal, () => ({ snapshot, power: null }));
  onTestFinished(() => display.stop());
  display.log('a line');
  stop.abort();
  expect(drawn.at(-1)).toBe('\r\u001b[3A\u001b[0J');
});

test('a finished cell is one line', () => {
  const [result] = snapshot.results;
  expect(cellLine(result!)).toBe('m × d × s × c4: 40 queries, 50.0 % right, 1 min 5 s (done, flagged)');
  expect(cellLine({ ...result!, status: 'skipped', failure: '5 cells of m failed in a row' })).toBe(
    'm × d × s × c4: skipped: 5 cells of m failed in a row',
  );
  expect(cellLine({ ...result!, status: 'failed', verdict: null, accuracy: null })).toContain(
    'accuracy unknown, 1 min 5 s (failed)',
  );
});
