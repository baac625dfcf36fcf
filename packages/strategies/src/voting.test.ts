import { fc, test } from '@fast-check/vitest';
import type { CallRequest } from '@perwatt/core';
import { drive, type Scripted } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { context, item } from './settings.fixture.js';
import { strategyById } from './strategies.js';

function ask(id: string, input: unknown, script: readonly Scripted[]) {
  const strategy = strategyById(id);
  return drive(strategy.run(item, strategy.params.parse(input), context()), script);
}

const withoutTemperature = (batches: readonly (readonly CallRequest[])[]) =>
  batches.map((batch) =>
    batch.map((call) => ({ ...call, sampling: { ...call.sampling, temperature: null } })),
  );

describe('single', () => {
  example('asks once, greedily, with the token limit of the cell', async () => {
    const { batches, outcome } = await ask('single', {}, ['It is 42.']);
    expect(batches.flat()).toMatchObject([
      {
        role: 'solver',
        endpoint: 'main',
        parents: [],
        sampling: { temperature: 0, top_p: 1, max_tokens: 64 },
      },
    ]);
    expect(outcome).toMatchObject({ status: 'answered', answer: 'It is 42.', call_id: 'attempt-0' });
  });

  example('an answer that cannot be read is still an answer: the grader says what it is', async () => {
    expect((await ask('single', {}, ['no idea'])).outcome).toMatchObject({
      status: 'answered',
      answer: 'no idea',
    });
  });

  example('a failed call is a failed query, with its reason', async () => {
    expect((await ask('single', {}, [{ error_code: 'timeout' }])).outcome).toMatchObject({
      status: 'failed',
      reason: 'the call failed: timeout',
    });
  });

  example('its own token limit wins over that of the cell', async () => {
    const { batches } = await ask('single', { max_tokens: 5 }, ['42']);
    expect(batches[0]?.[0]?.sampling.max_tokens).toBe(5);
  });
});

describe('self_consistency', () => {
  example('all attempts are one batch of independent calls with seeds of their own', async () => {
    const { batches } = await ask('self_consistency', { attempts: 3 }, ['1', '2', '3']);
    expect(batches.map((batch) => batch.length)).toEqual([3]);
    expect(batches.flat().every((call) => call.parents.length === 0 && call.prefix_key === 'q1')).toBe(true);
    expect(new Set(batches.flat().map((call) => call.sampling.seed)).size).toBe(3);
  });

  example('the outcome is the whole text of the first call that gave the winning answer', async () => {
    const { outcome } = await ask('self_consistency', { attempts: 4 }, ['41', 'so 42', '42.', '7']);
    expect(outcome).toMatchObject({ status: 'answered', answer: 'so 42', call_id: 'attempt-1' });
    expect(outcome).toMatchObject({ decisions: ['"42" has 2 of 4 votes, 0 attempts did not vote'] });
  });

  example('a tie goes to the answer given first and is told', async () => {
    const { outcome } = await ask('self_consistency', { attempts: 4 }, ['7', '42', '42', '7']);
    expect(outcome).toMatchObject({ answer: '7', call_id: 'attempt-0' });
    expect(outcome.status === 'answered' && outcome.decisions[1]).toBe(
      '2 answers tied, the one given first wins',
    );
  });

  // biome-ignore format: a table is read in columns
  example.each<readonly [script: readonly Scripted[], outcome: object, why: string]>([
    [['none', '7', { error_code: 'timeout' }],          { status: 'answered', answer: '7' },  'failures and unread answers do not vote'],
    [['none', 'none', 'none'],                          { status: 'abstained', reason: 'no attempt gave an answer' }, 'nobody voted'],
    [[{ text: '9', finish: 'length' }, '7', 'none'],    { status: 'answered', answer: '7' },  'a cut answer does not vote'],
    [[{ text: '9', finish: 'length' }, 'none', 'none'], { status: 'abstained', reason: 'no attempt gave an answer (1 of 3 cut at the token limit)' }, 'it is told why'],
    [[{ error_code: 'timeout' }, { error_code: 'timeout' }, { error_code: 'connect_error' }], { status: 'failed', reason: 'all 3 calls failed: timeout, connect_error' }, 'every call failed'],
    [[{ error_code: 'timeout' }, 'none', 'none'],       { status: 'abstained' },              'some answered, none readably'],
  ])('%j gives %j: %s', async (script, outcome) => {
    expect((await ask('self_consistency', { attempts: 3 }, script)).outcome).toMatchObject(outcome);
  });

  const scripted = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.nat(99).map(String),
    fc.constant({ error_code: 'timeout' }),
    fc.record({ text: fc.nat(9).map(String), finish: fc.constant('length' as const) }),
  );

  test.prop([scripted])(
    'one attempt is single: the same request but for its temperature, the same outcome',
    async (answer) => {
      const once = await ask('single', {}, [answer]);
      const voted = await ask('self_consistency', { attempts: 1 }, [answer]);
      expect(withoutTemperature(voted.batches)).toEqual(withoutTemperature(once.batches));
      expect(voted.outcome).toEqual(once.outcome);
    },
  );

  test.prop([fc.array(scripted, { minLength: 2, maxLength: 9 })])(
    'what wins is the text of the call that it names',
    async (script) => {
      const { outcome } = await ask('self_consistency', { attempts: script.length }, script);
      expect(outcome.candidates).toHaveLength(script.length);
      if (outcome.status !== 'answered') return;
      const at = Number(outcome.call_id?.replace('attempt-', ''));
      expect(outcome.answer).toBe(script[at]);
    },
  );
});
