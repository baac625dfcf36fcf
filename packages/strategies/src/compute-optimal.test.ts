import { fc, test } from '@fast-check/vitest';
import type { Script } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { answerOf, ask, decisionsOf, textOf } from './asking.fixture.js';
import { strategyById } from './strategies.js';

/** Two probes, then two calls: attempts where the probes differ, revisions where they agree. */
const two = { calls: 4, probes: 2, edges: [1], parallel: [1, 0] };

describe('compute_optimal', () => {
  // biome-ignore format: a table is read in columns
  example.each<readonly [why: string, script: Script, ids: readonly string[], answer: string | null]>([
    ['probes that differ ask on',            ['7', '42', '42', '1'],                     ['attempt-2', 'attempt-3'],   '42'],
    ['probes that agree are looked over',    ['7', '7', '42', '42'],                     ['revision-0', 'revision-1'], '7'],
    ['silence is no agreement',              ['42', { error_code: 'timeout' }, '42', '1'], ['attempt-2', 'attempt-3'],   '42'],
    ['a failed revision ends the chain',     ['42', '42', { error_code: 'timeout' }],    ['revision-0'],               '42'],
  ])('%s', async (_, script, ids, answer) => {
    const { batches, outcome } = await ask('compute_optimal', two, script);
    expect(batches.flat().map(({ id }) => id)).toEqual(['attempt-0', 'attempt-1', ...ids]);
    expect(answerOf(outcome)).toBe(answer);
  });

  example('a revision sees the leading answer, and the next one the revision; all answers vote', async () => {
    const { batches, outcome } = await ask('compute_optimal', { ...two, calls: 5 }, [
      '7',
      '7',
      '42',
      '42',
      '42',
    ]);
    const [first, second] = batches.slice(1).map(([call]) => call!);
    expect(textOf(first!.input)).toContain('assistant: 7');
    expect(first!.parents).toEqual(['attempt-0', 'attempt-1']);
    expect(textOf(second!.input)).toContain('assistant: 42');
    expect(second!.parents).toEqual(['revision-0']);
    expect(answerOf(outcome)).toBe('42');
    expect(decisionsOf(outcome)).toContain(
      'agreement 1.000 of 2 probes, bin 2 of 2: 0 new attempts, 3 revisions',
    );
  });

  example('new attempts are one batch that follows the probes, and revisions follow them', async () => {
    const { batches } = await ask(
      'compute_optimal',
      { calls: 6, probes: 2, edges: [], parallel: [0.5] },
      () => '42',
    );
    expect(batches.map((batch) => batch.map(({ id }) => id))).toEqual([
      ['attempt-0', 'attempt-1'],
      ['attempt-2', 'attempt-3'],
      ['revision-0'],
      ['revision-1'],
    ]);
    expect(batches.flat().map(({ round }) => round)).toEqual([0, 0, 1, 1, 2, 3]);
    expect(batches[2]![0]!.parents).toHaveLength(4);
  });

  example('with attempts alone it is self_consistency: the same inputs, the same winner', async () => {
    const script = ['7', '42', '42', '7', '42'];
    const all = await ask('compute_optimal', { calls: 5, probes: 2, edges: [], parallel: [1] }, script);
    const vote = await ask('self_consistency', { attempts: 5 }, script);
    const inputs = (r: typeof all) => r.batches.flat().map(({ input, sampling }) => ({ input, sampling }));
    expect(inputs(all)).toEqual(inputs(vote));
    expect(answerOf(all.outcome)).toBe(answerOf(vote.outcome));
  });

  test.prop([
    fc.integer({ min: 2, max: 12 }),
    fc.integer({ min: 2, max: 12 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.array(fc.constantFrom('7', '42', 'none'), { minLength: 12, maxLength: 12 }),
  ])('makes exactly its calls, however the item looks', async (calls, probes, parallel, said) => {
    fc.pre(probes <= calls);
    let at = 0;
    const params = { calls, probes, edges: [0.5], parallel: [parallel, 1 - parallel] };
    const { batches } = await ask('compute_optimal', params, () => said[at++ % said.length]!);
    expect(batches.flat()).toHaveLength(calls);
  });

  // biome-ignore format: a table is read in columns
  example.each<readonly [params: object, message: string]>([
    [{ calls: 3, probes: 4 },                        '"probes": more probes than calls'],
    [{ edges: [0.5, 0.5], parallel: [1, 0, 0] },     '"edges": they must rise'],
    [{ edges: [0.5], parallel: [1] },                '"parallel": one more than there are edges is needed'],
  ])('%j is an error: %s', (params, message) => {
    expect(() => strategyById('compute_optimal').params.parse(params)).toThrow(message);
  });
});
