import { parseMatrix } from '@perwatt/harness';
import { expect, test } from 'vitest';
import { placedMatrix } from './placed-matrix.js';

const text = `name: t
axes:
  model: [{ id: m, path: w.gguf }, other]
  dataset: [{ id: d, kind: csv, path: sub/d.csv, shots: /abs/shots.csv }, sums]
  strategy: [single, { id: r, kind: route_learned, router: router.json }]
  load: [{ concurrency: 1 }, { id: traced, arrivals: { kind: trace, path: ../trace.csv } }]
  variant: [base, { id: v, model: { path: v.gguf }, strategy: { router: v.json } }]
models: [{ id: third, path: t.gguf }]
endpoints:
  far: { url: "http://h/v1" }
  own: { url: "recipe:grpo@c/one.json" }
power:
  meters:
    - { id: log, kind: tail, path: p.csv, format: csv, time: ts, value: w, unit: W }
    - { id: plug, kind: http-json, url: "http://h/x", pointer: /p, unit: W }
`;

test('every path of a matrix is taken from its folder, and nothing else changes', () => {
  const matrix = parseMatrix(text, 'm.yaml');
  const placed = placedMatrix(matrix, '/lab/m');
  const changed = JSON.stringify(placed).match(/[^"]*\/(?:lab|abs)\/[^"]*/g);
  expect(changed).toEqual([
    '/lab/m/w.gguf',
    '/lab/m/sub/d.csv',
    '/abs/shots.csv',
    '/lab/m/router.json',
    '/lab/trace.csv',
    '/lab/m/v.gguf',
    '/lab/m/v.json',
    '/lab/m/t.gguf',
    'recipe:grpo@/lab/m/c/one.json',
    '/lab/m/p.csv',
  ]);
  const back = JSON.stringify(placed).replaceAll('/lab/m/', '').replaceAll('/lab/trace.csv', '../trace.csv');
  expect(JSON.parse(back)).toEqual(JSON.parse(JSON.stringify(matrix)));
});
