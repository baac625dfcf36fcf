import type { CallRequest, CallResult, Outcome } from '@perwatt/core';
import { instant, PerwattError } from '@perwatt/core';
import { drive, type Script } from '@perwatt/test-kit';
import { describe, expect, test } from 'vitest';
import { replayQuery } from './replay-query.js';
import { context, item, type Setting, settings } from './settings.fixture.js';
import { strategies, strategyById } from './strategies.js';

const ids = strategies().map((s) => s.id);
const setting = (id: string): Setting => {
  const found = settings[id];
  if (found === undefined) throw new Error(`no setting for strategy "${id}"`);
  return found;
};

function start(id: string, more: Readonly<Record<string, unknown>> = {}) {
  const strategy = strategyById(id);
  const params = strategy.params.parse({ ...setting(id).params, ...more });
  return { strategy, params, query: strategy.run(item, params, context()) };
}

const ask = (id: string, script: Script = setting(id).respond) => drive(start(id).query, script);

test('every strategy has a setting to be tried with', () => {
  expect(Object.keys(settings).sort()).toEqual([...ids].sort());
});

describe.each(ids)('%s', (id) => {
  test('answers the item with what its models said', async () => {
    const { outcome } = await ask(id);
    const answers: Record<string, string> = { env_react: 'forward\nforward\nforward', evolve: 'x2' };
    expect(outcome).toMatchObject({
      status: 'answered',
      answer: expect.stringContaining(answers[id] ?? '42') as string,
    });
  });

  test('asks at most as often as it says, with unique ids, known endpoints and parents that came before', async () => {
    const { strategy, params } = start(id);
    const { batches } = await ask(id);
    const calls = batches.flat();
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThanOrEqual(strategy.calls(params));
    expect(new Set(calls.map((c) => c.id)).size).toBe(calls.length);
    for (const call of calls) expect(strategy.needs(params).endpoints).toContain(call.endpoint);
    expect(early(batches)).toEqual([]);
  });

  test('is the same again: the same answers give the same calls', async () => {
    expect(await ask(id)).toEqual(await ask(id));
  });

  test('replays exactly from its record and tells a record that is another', async () => {
    const record: { request: CallRequest; result: CallResult }[] = [];
    const { strategy, params, query } = start(id);
    let step = await query.next();
    while (!step.done) {
      const results = step.value.map((call) => resultOf(call));
      record.push(...step.value.map((request, i) => ({ request, result: results[i]! })));
      step = await query.next(results);
    }
    const place = () => ({ item, params, context: context() });
    expect(await replayQuery(strategy, place(), record)).toEqual(step.value);
    const changed = record.map((call, i) =>
      i === 0
        ? { ...call, request: { ...call.request, sampling: { ...call.request.sampling, seed: 7 } } }
        : call,
    );
    await expect(replayQuery(strategy, place(), changed)).rejects.toThrow('is not the recorded one');
    await expect(replayQuery(strategy, place(), record.slice(1))).rejects.toThrow('the record has no call');
  });

  function resultOf(call: CallRequest): CallResult {
    const scripted = setting(id).respond(call);
    const parts = typeof scripted === 'string' ? { text: scripted } : scripted;
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    return {
      id: call.id,
      text: '',
      finish: 'stop',
      usage,
      ...parts,
      sent_ns: instant(0n),
      end_ns: instant(1n),
    };
  }

  test.each(['429', 'timeout'])(
    'ends without an answer, and says why, when every call fails (%s)',
    async (error_code) => {
      const { outcome } = await ask(id, () => ({ error_code }));
      expect(['failed', 'abstained']).toContain(outcome.status);
      expect(outcome).toHaveProperty('reason', expect.stringContaining(error_code));
    },
  );

  test.each([
    ['nothing', ''],
    ['half a JSON', '{"reasoning": "x", "mess'],
    ['a long tool call that is none', '<tool_call>{{{'.repeat(50)],
    ['a box with a strange score', '\\boxed{0.7} Score: 99'],
  ])('survives %s as every answer', async (_, text) => {
    const { outcome, batches } = await ask(id, () => text);
    const { strategy, params } = start(id);
    expect(batches.flat().length).toBeLessThanOrEqual(strategy.calls(params));
    expect(['answered', 'abstained', 'failed']).toContain(outcome.status);
  });

  test.each([1, 2, 3])('under a budget of %d calls sends no more and ends cleanly', async (calls) => {
    const { strategy, params, query } = start(id, { budget: { calls } });
    const { batches, outcome } = await drive(query, setting(id).respond);
    const whole = (await ask(id)).batches.flat().length;
    expect(batches.flat()).toHaveLength(Math.min(calls, whole));
    expect(strategy.calls(params)).toBeLessThanOrEqual(calls);
    if (whole > calls) expect(sayings(outcome)).toContain('budget_calls');
    expect(outcome.status).not.toBe('failed');
  });

  test('under a budget of tokens allows no more output than that', async () => {
    const { query } = start(id, { budget: { tokens: 10 } });
    let [step, allowed] = [await query.next(), 0];
    while (!step.done) {
      allowed += step.value.reduce((sum, call) => sum + call.sampling.max_tokens, 0);
      step = await query.next(
        step.value.map((call) => ({
          ...resultOf(call),
          usage: { prompt_tokens: 5, completion_tokens: call.sampling.max_tokens },
        })),
      );
    }
    expect(allowed).toBeLessThanOrEqual(10);
  });

  test('rejects an unknown parameter and names the nearest', () => {
    const parse = () => strategyById(id).params.parse({ ...setting(id).params, temprature: 1 });
    expect(parse).toThrow(PerwattError);
    expect(parse).toThrow(`strategy "${id}": unknown parameter "temprature" (did you mean "temperature")`);
  });

  test('takes the system message of a data set', async () => {
    const { batches } = await drive(start(id, { system: 'Be brief.' }).query, setting(id).respond);
    expect(JSON.stringify(batches[0])).toContain('Be brief.');
  });
});

/** Calls whose parents had not ended when they were asked. */
function early(batches: readonly (readonly CallRequest[])[]): string[] {
  const ended = new Set<string>();
  return batches.flatMap((batch) => {
    const wrong = batch.filter((call) => call.parents.some((parent) => !ended.has(parent)));
    for (const call of batch) ended.add(call.id);
    return wrong.map((call) => call.id);
  });
}

const sayings = (outcome: Outcome): string =>
  outcome.status === 'answered' ? outcome.decisions.join('\n') : outcome.reason;

test('several wrong parameters are reported at once', () => {
  expect(() => strategyById('self_consistency').params.parse({ attempts: 0, top_p: 2, kk: 1 })).toThrow(
    /"attempts" is 0, .*"top_p" is 2, .*unknown parameter "kk"/,
  );
});

test.each([
  [{ call: 3 }, /strategy "single": budget: .*call/],
  [{ calls: 0 }, /strategy "single": budget: calls is 0/],
  ['3', /strategy "single": budget: /],
])('a budget of %j is one error', (budget, message) => {
  expect(() => strategyById('single').params.parse({ budget })).toThrow(message);
});

test('an unknown strategy names the nearest', () => {
  expect(() => strategyById('debat')).toThrow('unknown strategy "debat"; did you mean "debate"?');
});
