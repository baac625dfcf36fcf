import { fc, test } from '@fast-check/vitest';
import type { Script } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { answerOf, ask, decisionsOf, textOf } from './asking.fixture.js';
import { readRating } from './scores.js';

describe('scores', () => {
  // biome-ignore format: a table is read in columns
  example.each<readonly [text: string, rating: number | null, why: string]>([
    ['Score: 7',                   0.7,  'as asked'],
    ['Score: 2\nthen Score: 9',    0.9,  'the last counts'],
    ['**Score:** 10/10',           1,    'marks and a scale are no harm'],
    ['Score: 11',                  null, 'out of range is no verdict'],
    ['Score: -1',                  null, 'neither is a negative one'],
    ['seven',                      null, 'nothing to read'],
  ])('%j is %j: %s', (text, rating) => {
    expect(readRating(text)).toBe(rating);
  });

  const outcomes = ['41', '42', 'none', '42', '40'];
  const answers: Script = (call) =>
    call.role === 'verifier'
      ? `Score: ${[1, 9, 0, 3, 5][call.branch ?? 0]}`
      : (outcomes[call.branch ?? 0] ?? '');

  example('best_of_n takes the attempt scored highest; the verifier is asked once for each', async () => {
    const { batches, outcome } = await ask('best_of_n', { attempts: 5 }, answers);
    expect(batches.map((b) => b.length)).toEqual([5, 5]);
    expect(outcome).toMatchObject({
      call_id: 'attempt-1',
      candidates: [{ score: 0.1 }, { score: 0.9 }, { score: 0 }, { score: 0.3 }, { score: 0.5 }],
    });
  });

  test.prop([fc.array(fc.constantFrom('41', '42', 'none'), { minLength: 1, maxLength: 8 })])(
    'best_of_n with an oracle is right exactly when any attempt is: pass@n',
    async (script) => {
      const { outcome, batches } = await ask(
        'best_of_n',
        { attempts: script.length, verifier: 'oracle' },
        script,
      );
      expect(batches).toHaveLength(1);
      expect(answerOf(outcome) === '42').toBe(script.includes('42'));
    },
  );

  example('a score that can’t be read does not win over one that can', async () => {
    const { outcome } = await ask('best_of_n', { attempts: 2 }, (call) =>
      call.role === 'verifier'
        ? call.branch === 0
          ? 'excellent!'
          : 'Score: 1'
        : `${40 + (call.branch ?? 0)}`,
    );
    expect(outcome).toMatchObject({ call_id: 'attempt-1' });
  });

  example('log-probabilities choose without a further call', async () => {
    const { outcome, batches } = await ask('best_of_n', { attempts: 2, verifier: 'logprob' }, [
      { text: '41', mean_logprob: -2 },
      { text: '42', mean_logprob: -0.1 },
    ]);
    expect(batches).toHaveLength(1);
    expect(outcome).toMatchObject({ answer: '42' });
  });

  example('weighted_vote adds scores by answer: two middling ones beat one high', async () => {
    const { outcome } = await ask('weighted_vote', { attempts: 3 }, (call) =>
      call.role === 'verifier'
        ? `Score: ${[8, 5, 5][call.branch ?? 0]}`
        : (['41', '42', '42'][call.branch ?? 0] ?? ''),
    );
    expect(outcome).toMatchObject({ answer: '42' });
  });

  example('weighted_vote without a readable score is a plain vote and says so', async () => {
    const { outcome } = await ask('weighted_vote', { attempts: 3 }, (call) =>
      call.role === 'verifier' ? 'hm' : (['42', '41', '42'][call.branch ?? 0] ?? ''),
    );
    expect(answerOf(outcome)).toBe('42');
    expect(decisionsOf(outcome)).toContain('each attempt counts once');
  });

  example('repeated_sampling keeps each attempt’s verdict', async () => {
    const { outcome } = await ask('repeated_sampling', { attempts: 4 }, ['1', '42', '2', '42']);
    expect(outcome.candidates.map((c) => c.score)).toEqual([0, 1, 0, 1]);
    expect(outcome).toMatchObject({ call_id: 'attempt-1', decisions: ['2 of 4 attempts are right'] });
  });

  example.each(['repeated_sampling', 'best_of_n'])(
    '%s: no oracle takes an answer that was cut, as the grader doesn’t',
    async (id) => {
      const params = { attempts: 3, ...(id === 'best_of_n' && { verifier: 'oracle' }) };
      const { outcome } = await ask(id, params, [{ text: '42', finish: 'length' }, '1', '42']);
      expect(outcome).toMatchObject({ call_id: 'attempt-2' });
      expect(outcome.candidates.map((c) => c.score)).toEqual([0, 0, 1]);
    },
  );
});

describe('sequential_revision', () => {
  example('each round sees the answer before it, in one chain', async () => {
    const { batches } = await ask('sequential_revision', { select: 'last', rounds: 3 }, ['1', '2', '3']);
    expect(batches.map((b) => b.length)).toEqual([1, 1, 1]);
    expect(batches.flat().map((c) => c.parents)).toEqual([[], ['round-0'], ['round-1']]);
    expect(textOf(batches[2]![0]!.input)).toContain('assistant: 2');
    expect(textOf(batches[2]![0]!.input)).not.toContain('assistant: 1');
  });

  example('a failed round leaves the one before it', async () => {
    const { outcome } = await ask('sequential_revision', { select: 'last' }, [
      '42',
      { error_code: 'timeout' },
    ]);
    expect(answerOf(outcome)).toBe('42');
  });
});
