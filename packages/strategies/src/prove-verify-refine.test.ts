import type { Scripted } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { ask, textOf } from './asking.fixture.js';
import { readVerdict, solutionOf } from './proof-texts.js';

describe('prove_verify_refine', () => {
  // biome-ignore format: a table is read in columns
  example.each<readonly [text: string, score: number | null, why: string]>([
    ['fine \\boxed{1}',                 1,    'complete'],
    ['\\boxed{0.5} … no, \\boxed{0}',   0,    'the last box counts'],
    ['\\boxed{ 0.5 }',                  0.5,  'blanks are no harm'],
    ['\\boxed{0.7}',                    null, 'no other score exists'],
    ['\\boxed{1.0}',                    null, 'and none is written otherwise'],
    ['0.5',                             null, 'no box is a failure of format, not 0'],
  ])('%j is %j: %s', (text, score) => {
    expect(readVerdict(text)).toBe(score);
  });

  const solution = (n: number): Scripted => `## Solution\nIt is ${n}.\n## Self Evaluation\nWeak. \\boxed{0}`;

  example('the answer is the solution without the writer’s judgement', () => {
    expect(solutionOf('## Solution\nIt is 42.\n\n## Self Evaluation\nWeak. \\boxed{0}')).toBe('It is 42.');
    expect(solutionOf('Self evaluation: none')).toBe('Self evaluation: none');
  });

  example('stops exactly when a solution is faultless', async () => {
    const { batches } = await ask('prove_verify_refine', { pool: 2, verifications: 2, rounds: 5 }, (call) =>
      call.role === 'solver' ? solution(42) : call.parents[0] === 'proof-1-0' ? '\\boxed{1}' : '\\boxed{0.5}',
    );
    expect(batches.flat().filter((c) => c.role === 'solver')).toHaveLength(4);
  });

  example('refines the best by mean, each shown its lowest examinations first', async () => {
    const { batches } = await ask(
      'prove_verify_refine',
      { pool: 3, verifications: 2, parents: 1, meta: false },
      (call) => {
        if (call.role === 'solver') return solution(call.branch ?? 0);
        const scores: Record<string, string> = { 'verify-proof-0-1-0': '0.5', 'verify-proof-0-1-1': '1' };
        return `EXAM-${call.id} \\boxed{${scores[call.id] ?? '0'}}`;
      },
    );
    const refinements = batches.flat().filter((c) => c.id.startsWith('proof-1-'));
    for (const call of refinements) {
      expect(call.parents[0]).toBe('proof-0-1');
      const text = textOf(call.input);
      expect(text.indexOf('EXAM-verify-proof-0-1-0')).toBeLessThan(text.indexOf('EXAM-verify-proof-0-1-1'));
    }
  });

  example('an examination whose defects are invented does not count', async () => {
    const said: Record<string, Scripted> = {
      'proof-0-0': solution(40),
      'proof-0-1': solution(41),
      'verify-proof-0-0-0': '\\boxed{0.5}',
      'verify-proof-0-1-0': '\\boxed{0}',
      'meta-verify-proof-0-0-0': '\\boxed{1}',
      'meta-verify-proof-0-1-0': '\\boxed{0}',
    };
    const { outcome } = await ask(
      'prove_verify_refine',
      { pool: 2, verifications: 1, rounds: 1 },
      (call) => said[call.id] ?? '',
    );
    expect(outcome.candidates.map((c) => c.score)).toEqual([0.5, null]);
    expect(outcome).toMatchObject({ call_id: 'proof-0-0' });
  });
});
