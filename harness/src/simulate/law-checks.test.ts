import { PerwattError } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { parseMatrix } from '../parse-matrix.js';

const text = `name: fleet
axes:
  model: [small]
  accelerator: [{ id: edge, kind: npu }]
  dataset: [{ id: level-1, kind: sums }]
  load: [{ concurrency: 4 }]
simulate:
  models:
    small: { active_b: 1, weight_gb: 2, skill: 0 }
  accelerators:
    edge: { tflops: 1, gb_per_s: 100, idle_w: 3, prefill_w: 15, decode_w: 10 }
  datasets:
    sums: { difficulty: 0, prompt_tokens: 60, output_tokens: 60 }
`;

const messageOf = (matrix: string): string => {
  try {
    parseMatrix(matrix, 'fleet.yaml');
    return '';
  } catch (error) {
    return error instanceof PerwattError ? error.message : String(error);
  }
};

describe('the laws of a matrix', () => {
  test('have every name that the axes have, data sets by their kind', () => {
    expect(messageOf(text)).toBe('');
  });

  // biome-ignore format: a table is read in columns
  test.each<[from: string, to: string, expected: string, why: string]>([
    ['model: [small]',             'model: [smal]',                     'fleet.yaml:3: simulate.models has no "smal"; did you mean "small"?',             'a model without a law'],
    ['{ id: edge, kind',           '{ id: edgy, kind',                  'fleet.yaml:4: simulate.accelerators has no "edgy"; did you mean "edge"?',        'an accelerator without one'],
    ['kind: sums',                 'kind: sum',                         'fleet.yaml:5: simulate.datasets has no "sum"; did you mean "sums"?',             'a data set, by its kind'],
    ['    small: {',               '    big: { active_b: 1, weight_gb: 1, skill: 0 }\n    small: {', 'fleet.yaml:9: simulate.models.big is the law of nothing on an axis', 'a law of no model'],
    ['    edge: {',                '    rack: { tflops: 1, gb_per_s: 1, idle_w: 1, prefill_w: 1, decode_w: 1 }\n    edge: {', 'fleet.yaml:11: simulate.accelerators.rack is the law of nothing on an axis', 'a law of no accelerator'],
    ['    sums: {',                '    proofs: { difficulty: 0, prompt_tokens: 1, output_tokens: 1 }\n    sums: {', 'fleet.yaml:13: simulate.datasets.proofs is the law of nothing on an axis', 'a law of no data set'],
    ['axes:',                      'models: [judge]\naxes:',            'fleet.yaml:2: simulate.models has no "judge"',                                   'a model that a strategy may be bound to'],
    ['model: [small]',             'model: [{ id: small, path: w.gguf }]', 'fleet.yaml:3: axes.model[0].path: a matrix with `simulate` asks nothing real', 'weights that nobody would read'],
    ['axes:',                      'energy: { attribution: token_share }\naxes:', 'fleet.yaml:2: energy.attribution: simulated calls tell when their first token came', 'tokens without times, side by side'],
  ])('%#: %s as %s is refused: %s (%s)', (from, to, expected) => {
    expect(messageOf(text.replace(from, to))).toContain(expected);
  });

  test('allow energy by tokens where no two calls ever overlap', () => {
    const alone = text
      .replace('concurrency: 4', 'concurrency: 1')
      .replace('axes:', 'energy: { attribution: token_share }\naxes:');
    expect(messageOf(alone)).toBe('');
  });
});
