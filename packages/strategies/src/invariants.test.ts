import { fc, test } from '@fast-check/vitest';
import type { CallInput, CallRequest, Outcome } from '@perwatt/core';
import { createRng } from '@perwatt/core';
import { drive, type Script, type Scripted } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { best, type Individual, insert, newArchive, ranking } from './archive.js';
import { afterMarker, clipLeft } from './clip.js';
import { applyEdits } from './edits.js';
import { actionIn } from './env-react.js';
import { objectIn, toolCallsOf } from './hermes.js';
import { chunksOf } from './minions-plan.js';
import { readObjectives } from './objectives.js';
import { readVerdict, solutionOf } from './proof-texts.js';
import { proposerReward } from './propose-solve.js';
import { readRating } from './scores.js';
import { context, corridor, item, settings } from './settings.fixture.js';
import { strategyById } from './strategies.js';

function ask(id: string, input: Readonly<Record<string, unknown>>, script: Script) {
  const strategy = strategyById(id);
  return drive(
    strategy.run(item, strategy.params.parse({ ...settings[id]?.params, ...input }), context()),
    script,
  );
}

const textOf = (input: CallInput): string =>
  input.kind === 'completion'
    ? input.prompt
    : input.messages.map((m) => `${m.role}: ${m.content}`).join('\n');
const answerOf = (outcome: Outcome) => (outcome.status === 'answered' ? outcome.answer : null);
const decisionsOf = (outcome: Outcome) =>
  outcome.status === 'answered' ? outcome.decisions.join('\n') : outcome.reason;

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

describe('budget_forcing', () => {
  const used = (completion_tokens: number, more: Partial<Exclude<Scripted, string>> = {}): Scripted => ({
    text: 'hm',
    usage: { prompt_tokens: 1, completion_tokens },
    ...more,
  });

  example('an end of thinking is ignored as often as told, then the answer is called for', async () => {
    const { batches } = await ask('budget_forcing', { thinking_tokens: 100, ignores: 2 }, () => used(5));
    const prompts = batches.flat().map((c) => textOf(c.input));
    expect(prompts).toHaveLength(4);
    expect(prompts[2]?.match(/Wait/g)).toHaveLength(2);
    expect(prompts[3]).toMatch(/<\/think>\nFinal Answer:$/);
    expect(batches.flat()[0]?.sampling.stop).toEqual(['</think>']);
  });

  test.prop([fc.array(fc.nat(40), { maxLength: 12 }), fc.integer({ min: 1, max: 60 }), fc.nat(6)])(
    'thinks no longer than its cap and nudges no oftener than told',
    async (lengths, thinking_tokens, ignores) => {
      const left = [...lengths];
      let thought = 0;
      const { batches } = await ask('budget_forcing', { thinking_tokens, ignores }, (call) => {
        const length = Math.min(left.shift() ?? 3, call.sampling.max_tokens);
        if (call.sampling.stop !== undefined) thought += length;
        return used(length, { finish: length === call.sampling.max_tokens ? 'length' : 'stop' });
      });
      expect(thought).toBeLessThanOrEqual(thinking_tokens);
      expect((textOf(batches.at(-1)![0]!.input).match(/Wait/g) ?? []).length).toBeLessThanOrEqual(ignores);
    },
  );

  example('without ignores and with a large cap it is a plain generation and its answer', async () => {
    const { batches } = await ask('budget_forcing', { thinking_tokens: 1000, ignores: 0 }, () => used(9));
    expect(batches.map((b) => b.length)).toEqual([1, 1]);
  });
});

describe('debate', () => {
  const said = (call: CallRequest): Scripted =>
    call.role === 'summariser' ? 'SUMMARY' : `MINE-${call.branch} 4${call.branch}`;

  example.each([
    [2, 2],
    [3, 3],
    [5, 2],
  ])('%d members and %d rounds make N·R answers and N·(R − 1) summaries', async (members, rounds) => {
    const { batches } = await ask('debate', { members, rounds }, said);
    const calls = batches.flat();
    expect(calls.filter((c) => c.role !== 'summariser')).toHaveLength(members * rounds);
    expect(calls.filter((c) => c.role === 'summariser')).toHaveLength(members * (rounds - 1));
  });

  example('a member never reads its own answer among the others’', async () => {
    const { batches } = await ask('debate', { members: 4, rounds: 3 }, said);
    const summaries = batches.flat().filter((c) => c.role === 'summariser');
    for (const call of summaries) {
      expect(textOf(call.input)).not.toContain(`MINE-${call.branch} `);
      expect(textOf(call.input).match(/MINE-/g)).toHaveLength(3);
    }
    const bare = (await ask('debate', { members: 4, summaries: false }, said)).batches[1] ?? [];
    for (const call of bare) {
      const heard = call.input.kind === 'chat' ? (call.input.messages.at(-1)?.content ?? '') : '';
      expect(heard).not.toContain(`MINE-${call.branch} `);
      expect(heard.match(/MINE-/g)).toHaveLength(3);
    }
  });

  example('one round of one model is self_consistency: same inputs, same sampling, same winner', async () => {
    const script = ['41', '42', '42'];
    const one = await ask('debate', { rounds: 1, temperature: 0.7 }, script);
    const vote = await ask('self_consistency', { attempts: 3 }, script);
    const bare = (r: typeof one) => r.batches.flat().map(({ input, sampling }) => ({ input, sampling }));
    expect(bare(one)).toEqual(bare(vote));
    expect(answerOf(one.outcome)).toBe(answerOf(vote.outcome));
  });

  example('only the last round votes', async () => {
    const { outcome } = await ask('debate', {}, (call) =>
      call.role === 'summariser' ? '' : call.id.endsWith('-0') ? '7' : call.branch === 0 ? '7' : '42',
    );
    expect(answerOf(outcome)).toBe('42');
  });

  example('when the whole last round fails the round before it counts', async () => {
    const { outcome } = await ask('debate', {}, (call) =>
      call.role === 'critic' ? { error_code: 'timeout' } : '42',
    );
    expect(answerOf(outcome)).toBe('42');
  });

  example('a list of endpoints that fits no member count is one error', () => {
    const strategy = strategyById('debate');
    const params = strategy.params.parse({ members: 3, critics: ['main', 'strong'] });
    expect(() => strategy.needs(params)).toThrow('2 endpoints for 3 members');
  });
});

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

describe('delegate', () => {
  const call = (args: unknown) =>
    `<tool_call>${JSON.stringify({ name: 'spawn_clone', arguments: args })}</tool_call>`;
  const once =
    (args: unknown, clone: (c: CallRequest) => Scripted = () => 'Answer: 6') =>
    (c: CallRequest) =>
      c.role === 'root' ? (c.id === 'root-0' ? call(args) : 'Answer: 42') : clone(c);

  example(
    'clones of a turn are one batch after the root, without tools and without each other’s text',
    async () => {
      const { batches } = await ask('delegate', {}, once({ objectives: ['PIECE-A', 'PIECE-B'] }));
      expect(batches.map((b) => b.map((c) => c.role))).toEqual([['root'], ['clone', 'clone'], ['root']]);
      const clones = batches[1] ?? [];
      expect(clones.map((c) => c.parents)).toEqual([['root-0'], ['root-0']]);
      expect(textOf(clones[0]!.input)).not.toContain('PIECE-B');
      expect(JSON.stringify(clones)).not.toContain('spawn_clone');
      expect(batches[2]?.[0]?.parents).toEqual(['clone-0-0', 'clone-0-1']);
    },
  );

  example('only passages whose keys were passed reach a clone, and the root sees titles only', async () => {
    const { batches } = await ask(
      'delegate',
      { reading: 'keys' },
      once({ objectives: ['read'], shared_context: ['Six', 'Eight'] }),
    );
    const [root, clones, after] = batches;
    expect(textOf(root![0]!.input)).not.toContain('SECRET');
    expect(textOf(root![0]!.input)).toContain('- Six');
    expect(textOf(clones![0]!.input)).toContain('SECRET-SIX');
    expect(textOf(clones![0]!.input)).not.toContain('SECRET-SEVEN');
    expect(textOf(after![0]!.input)).toContain('missing key: Eight');
  });

  example(
    'results are joined in the order of the objectives, the right side kept, within both limits',
    async () => {
      const long = (c: CallRequest): Scripted => `Answer: ${'x'.repeat(400)}END${c.branch}`;
      const { batches } = await ask('delegate', {}, once({ objectives: ['a', 'b'] }, long));
      const joined = textOf(batches[2]![0]!.input)
        .split('<tool_response>\n')[1]!
        .split('\n</tool_response>')[0]!;
      expect(joined.length).toBeLessThanOrEqual(512);
      expect(joined.indexOf('END0')).toBeLessThan(joined.indexOf('END1'));
      const [first] = (await ask('delegate', {}, once({ objectives: ['a'] }, long))).batches.slice(-1);
      const line = textOf(first![0]!.input).split('<tool_response>\n')[1]!.split('\n')[0]!;
      expect(line).toHaveLength('turn0_clone0: '.length + 256);
      expect(line.endsWith('END0')).toBe(true);
    },
  );

  example('objectives over the limit are told to the root as rejected', async () => {
    const { batches } = await ask('delegate', { max_clones: 2 }, once({ objectives: ['a', 'b', 'c'] }));
    expect(batches[1]).toHaveLength(2);
    expect(textOf(batches[2]![0]!.input)).toContain('rejected: objective 3: over the limit of 2 clones');
  });

  example('a clone that fails is told to the root and does not fail the query', async () => {
    const { batches, outcome } = await ask(
      'delegate',
      {},
      once({ objectives: ['a', 'b'] }, (c) => (c.branch === 0 ? { error_code: 'timeout' } : 'Answer: 7')),
    );
    expect(textOf(batches[2]![0]!.input)).toContain('turn0_clone0: failed, timeout (a)');
    expect(answerOf(outcome)).toBe('Answer: 42');
  });

  example('without a tool call it is one call: the root’s', async () => {
    const { batches, outcome } = await ask('delegate', {}, ['Answer: 42']);
    expect(batches.flat()).toHaveLength(1);
    expect(answerOf(outcome)).toBe('Answer: 42');
  });

  example('the cap on turns holds and nothing is spawned for nobody', async () => {
    const { batches, outcome } = await ask('delegate', { max_turns: 2 }, (c) =>
      c.role === 'root' ? call({ objectives: ['a'] }) : 'Answer: 1',
    );
    expect(batches.flat().map((c) => c.role)).toEqual(['root', 'clone', 'root']);
    expect(outcome).toMatchObject({ status: 'abstained', reason: 'no answer within 2 turns' });
  });

  example('native tool calls are answered by turns of role tool', async () => {
    const { batches } = await ask('delegate', { tool_form: 'native' }, (c) =>
      c.id === 'root-0'
        ? {
            text: '',
            finish: 'tool_calls',
            tool_calls: [{ index: 0, id: 't1', name: 'spawn_clone', arguments: '{"objectives": ["a"]}' }],
          }
        : 'Answer: 42',
    );
    const [first, , last] = batches.map((b) => b[0]!.input);
    expect(first).toHaveProperty('tools.0.name', 'spawn_clone');
    expect(last).toMatchObject({
      messages: [
        {},
        {},
        { role: 'assistant', tool_calls: [{ id: 't1' }] },
        { role: 'tool', tool_call_id: 't1' },
      ],
    });
  });

  // biome-ignore format: a table is read in columns
  example.each<readonly [args: Readonly<Record<string, unknown>>, accepted: number, rejected: number, why: string]>([
    [{ objectives: ['a', 'b'] },                       2, 0, 'texts'],
    [{ tasks: ['a'] },                                 1, 0, 'another name'],
    [{ objective: 'a' },                               1, 0, 'one text is a list of one'],
    [{ objectives: [{ instruction: 'a' }, { task: 'b' }] }, 2, 0, 'objects'],
    [{ objectives: [{ name: 'x' }] },                  0, 1, 'no instruction'],
    [{ objectives: [''] },                             0, 1, 'an empty one'],
    [{ objectives: [3] },                              0, 1, 'neither text nor object'],
    [{ objectives: 7 },                                0, 1, 'no list'],
    [{},                                               0, 1, 'nothing'],
  ])('%j gives %d objectives and %d rejections: %s', (args, accepted, rejected) => {
    const read = readObjectives(args, 30);
    expect([read.accepted.length, read.rejected.length]).toEqual([accepted, rejected]);
  });

  // biome-ignore format: a table is read in columns
  example.each<readonly [text: string, args: unknown, repaired: boolean, why: string]>([
    ['<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>',     { a: 1 }, false, 'as asked'],
    ['<tool_call>{"name": "f", "arguments": {"a": 1}',                  { a: 1 }, true,  'cut off'],
    ["<tool_call>{'name': 'f', 'arguments': {'a': 1,}}</tool_call>",    { a: 1 }, true,  'quotes and a comma too many'],
    ['<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>', { a: 1 }, false, 'arguments as text'],
    ['<tool_call>{"name": "f"}</tool_call>',                            null,     false, 'no arguments'],
  ])('%j has the arguments %j, repaired %j: %s', (text, args, repaired) => {
    expect(toolCallsOf({ text })).toMatchObject([{ name: 'f', args, repaired }]);
  });

  test.prop([fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(50)])(
    'clips keep the right side and whole characters',
    (text, length) => {
      const cut = clipLeft(text, length);
      expect(cut.length).toBeLessThanOrEqual(length);
      expect(text.endsWith(cut)).toBe(true);
      expect(/^[\uDC00-\uDFFF]/.test(cut)).toBe(false);
    },
  );

  // biome-ignore format: a table is read in columns
  example.each([
    ['<think>a</think> b',            'b'],
    ['Answer: 1\nAnswer: 2',          '2'],
    ['the Final Answer: x',           'x'],
    ['#### 7',                        '7'],
    ['no marker',                     'no marker'],
    ['Answer:',                       'Answer:'],
  ])('after the marker of %j stands %j', (text, rest) => {
    expect(afterMarker(text)).toBe(rest);
  });
});

describe('spawn_join', () => {
  example('a child sees its message only', async () => {
    const { batches } = await ask('spawn_join', {}, settings['spawn_join']!.respond);
    const children = batches[1] ?? [];
    expect(children).toHaveLength(2);
    expect(textOf(children[0]!.input)).toContain('branch one');
    for (const child of children) expect(textOf(child.input)).not.toContain(item.prompt);
    expect(textOf(children[1]!.input)).not.toContain('branch one');
  });
});

describe('team_vote', () => {
  const members = (...names: string[]) => ({ members: names });

  example('one member with k attempts is self_consistency', async () => {
    const script = ['1', '42', '42'];
    const team = await ask('team_vote', { ...members('main'), attempts: 3, temperature: 0.7 }, script);
    const vote = await ask('self_consistency', { attempts: 3 }, script);
    const bare = (r: typeof team) =>
      r.batches.flat().map(({ input, sampling, endpoint }) => ({ input, sampling, endpoint }));
    expect(bare(team)).toEqual(bare(vote));
    expect(answerOf(team.outcome)).toBe(answerOf(vote.outcome));
  });

  example(
    'a member that is replaced or masked leaves the others’ requests and seeds as they were',
    async () => {
      const others = async (input: Readonly<Record<string, unknown>>) =>
        (await ask('team_vote', input, () => '42')).batches
          .flat()
          .filter((c) => !c.id.startsWith('member-1-'));
      const before = await others(members('main', 'weak', 'weak'));
      expect(await others(members('main', 'strong', 'weak'))).toEqual(before);
      expect(await others({ ...members('main', 'weak', 'weak'), masked: [1] })).toEqual(before);
    },
  );

  test.prop([fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 })])(
    'the order of members does not change a winner without a tie',
    async (order) => {
      const says = ['42', '42', '42', '1', '2'];
      const { outcome } = await ask(
        'team_vote',
        { ...members('a', 'b', 'c', 'd', 'e') },
        order.map((i) => says[i]!),
      );
      expect(answerOf(outcome)).toBe('42');
    },
  );

  example('members may have sampling of their own', async () => {
    const { batches } = await ask(
      'team_vote',
      { members: ['main', { endpoint: 'weak', temperature: 0 }] },
      () => '42',
    );
    expect(batches[0]?.map((c) => c.sampling.temperature)).toEqual([0.8, 0]);
  });
});

describe('env_react', () => {
  const walk = (script: Script, input: Readonly<Record<string, unknown>> = {}) => {
    const strategy = strategyById('env_react');
    const world = corridor();
    const query = strategy.run(item, strategy.params.parse(input), { ...context(), openWorld: () => world });
    return drive(query, script);
  };

  example('no skill reaches a prompt unless it is asked for', async () => {
    const prompts = async (skills: string) =>
      JSON.stringify((await walk(() => 'Action: forward', { skills })).batches);
    expect(await prompts('off')).not.toContain('SKILL');
    expect(await prompts('on')).toContain('SKILL');
  });

  example('stops when the world says so and gives the actions back', async () => {
    const { outcome, batches } = await walk(() => 'I go.\nAction: forward');
    expect(batches).toHaveLength(3);
    expect(outcome).toMatchObject({ answer: 'forward\nforward\nforward' });
    expect(decisionsOf(outcome)).toBe('solved in 3 actions, 0 not possible, reward 1');
  });

  example('an action that is not possible costs a step; the world’s limit holds', async () => {
    const { outcome, batches } = await walk(() => 'dance');
    expect(batches).toHaveLength(6);
    expect(decisionsOf(outcome)).toContain('6 not possible');
  });

  example('only the latest pairs are shown, and what was left out is told', async () => {
    const { batches } = await walk(() => 'back', { history: 2 });
    const last = textOf(batches[5]![0]!.input);
    expect(last.match(/assistant: back/g)).toHaveLength(2);
    expect(last).toContain('(3 earlier steps are not shown)');
  });

  example('a failed call ends the episode with what was done', async () => {
    const { outcome } = await walk(['forward', { error_code: 'timeout' }]);
    expect(answerOf(outcome)).toBe('forward');
    expect(decisionsOf(outcome)).toContain('cut short by a failed call (timeout)');
  });

  // biome-ignore format: a table is read in columns
  example.each([
    ['I think.\nAction: go to shelf 1', 'go to shelf 1'],
    ['**Action:** look',                '** look'],
    ['go north\n\n',                    'go north'],
    ['Action: a\nAction: b',            'b'],
    ['',                                ''],
  ])('the command in %j is %j', (text, action) => {
    expect(actionIn(text)).toBe(action);
  });
});

describe('routes and cascades', () => {
  example.each([
    [5, 'strong'],
    [6, 'strong'],
    [7, 'weak'],
  ])('a prompt of 6 characters at threshold %d goes to %s', async (threshold, endpoint) => {
    const { batches } = await ask('route_threshold', { threshold }, ['42']);
    expect(batches.flat().map((c) => c.endpoint)).toEqual([endpoint]);
  });

  test.prop([fc.double({ min: 0, max: 1, noNaN: true })], { numRuns: 20 })(
    'a random router sends the share to the strong model that its threshold leaves',
    async (threshold) => {
      const strategy = strategyById('route_threshold');
      const params = strategy.params.parse({ router: 'random', threshold });
      const rng = createRng(7);
      let strong = 0;
      for (let i = 0; i < 400; i++) {
        const { batches } = await drive(strategy.run(item, params, { ...context(), rng }), ['42']);
        strong += batches[0]?.[0]?.endpoint === 'strong' ? 1 : 0;
      }
      expect(Math.abs(strong / 400 - (1 - threshold))).toBeLessThan(0.11);
    },
  );

  // biome-ignore format: a table is read in columns
  example.each<readonly [weak: readonly Scripted[], threshold: number, calls: number, answer: string, why: string]>([
    [['42', '42', '42'],                          0.67, 3, '42',  'all agree'],
    [['42', '42', '1'],                           0.66, 3, '42',  'enough agree'],
    [['42', '42', '1'],                           0.67, 4, '99',  'not enough'],
    [['42', { error_code: 'timeout' }, 'none'],   0.5,  4, '99',  'silence counts against agreement'],
  ])('%j at %d takes %d calls and gives %s: %s', async (weak, threshold, calls, answer) => {
    const { batches, outcome } = await ask('cascade', { threshold }, [...weak, '99']);
    expect(batches.flat()).toHaveLength(calls);
    expect(answerOf(outcome)).toBe(answer);
  });

  example('when the strong call fails the weak answer stands', async () => {
    const { outcome } = await ask('cascade', { threshold: 1 }, ['42', '42', '1', { error_code: 'timeout' }]);
    expect(answerOf(outcome)).toBe('42');
    expect(decisionsOf(outcome)).toContain('strong failed, weak answers');
  });
});

describe('minion and minions', () => {
  example.each(['minion', 'minions'])(
    '%s: no passage reaches the supervisor but in workers’ words',
    async (id) => {
      const { batches } = await ask(id, {}, settings[id]!.respond);
      const remote = batches.flat().filter((c) => c.role === 'supervisor');
      expect(remote.length).toBeGreaterThan(1);
      for (const call of remote) expect(textOf(call.input)).not.toContain('SECRET');
      const local = batches.flat().filter((c) => c.role === 'worker');
      expect(local.every((c) => textOf(c.input).includes('SECRET'))).toBe(true);
    },
  );

  example('a supervisor that never ends is made to answer after its last question', async () => {
    const { batches, outcome } = await ask('minion', { max_rounds: 2 }, (call) =>
      call.role === 'worker' ? 'hm' : '{"decision": "request_additional_info", "message": "and?"}',
    );
    expect(batches.flat().filter((c) => c.role === 'supervisor')).toHaveLength(3);
    expect(textOf(batches.at(-1)![0]!.input)).toContain('provide_final_answer');
    expect(outcome.status).toBe('answered');
  });

  example.each([
    [{ by: 'paragraphs', size: 1, overlap: 0 }, 2],
    [{ by: 'chars', size: 20, overlap: 5 }, 6],
    [{ by: 'pages', size: 1, overlap: 0 }, 1],
  ] as const)('%j cuts the document into %d pieces', (chunker, pieces) => {
    expect(chunksOf(item.material!, chunker)).toHaveLength(pieces);
  });

  test.prop([fc.string({ maxLength: 200 }), fc.integer({ min: 1, max: 20 }), fc.nat(19)])(
    'pieces cover every character, and overlap as told',
    (text, size, overlap) => {
      fc.pre(overlap < size);
      const chunks = chunksOf({ task: '', passages: [{ key: 'k', text }] }, { by: 'chars', size, overlap });
      const whole = [...`[k]\n${text}`];
      const joined = chunks.flatMap((chunk, i) => [...chunk].slice(i === 0 ? 0 : overlap));
      expect(joined.join('')).toBe(whole.join(''));
    },
  );

  example(
    'jobs are chunks × tasks × samples; null and unreadable findings are dropped and counted',
    async () => {
      const { batches, outcome } = await ask('minions', {}, (call) => {
        if (call.id.startsWith('plan'))
          return '{"chunker": {"by": "paragraphs", "size": 1}, "tasks": [{"id": "a", "instruction": "x"}, {"id": "b", "instruction": "y"}], "samples": 2}';
        if (call.role === 'worker')
          return ['{"answer": null}', 'no json', '{"answer": "FOUND"}'][(call.branch ?? 0) % 3]!;
        return '{"answer": "42"}';
      });
      expect(batches.flat().filter((c) => c.role === 'worker')).toHaveLength(8);
      const synthesis = textOf(batches.at(-1)![0]!.input);
      expect(synthesis.match(/FOUND/g)).toHaveLength(2);
      expect(decisionsOf(outcome)).toContain('8 jobs, 3 without readable findings');
    },
  );

  example('more jobs than the cap are not done and that is told', async () => {
    const { outcome } = await ask('minions', { max_jobs: 1 }, settings['minions']!.respond);
    expect(decisionsOf(outcome)).toContain('1 jobs of 2');
  });

  example('objects are found in fences and in prose', () => {
    expect(objectIn('Sure:\n```json\n{"a": 1}\n```')).toEqual({ a: 1 });
    expect(objectIn('I say {"a": {"b": 2}} now')).toEqual({ a: { b: 2 } });
    expect(objectIn('none')).toBeNull();
  });
});

describe('propose_solve', () => {
  example('never solved and always solved earn nothing; the rarest success earns most', () => {
    expect([null, 0, 1 / 8, 1 / 2, 1].map(proposerReward)).toEqual([null, 0, 0.875, 0.5, 0]);
  });

  example('a proposal that does not run is no example and is not tried', async () => {
    const { batches, outcome } = await ask('propose_solve', { proposals: 2 }, (call) => {
      if (call.role === 'proposer')
        return call.branch === 0 ? '{"program": "rm -rf", "input": "1"}' : '{"program": "x3", "input": "4"}';
      return call.id.startsWith('try') ? 'Answer: 12' : '42';
    });
    const last = textOf(batches.at(-1)![0]!.input);
    expect(last).toContain('x3');
    expect(last).not.toContain('rm -rf');
    expect(batches[1]).toHaveLength(2);
    expect(decisionsOf(outcome)).toContain('1 of 2 proposals are valid');
    expect(decisionsOf(outcome)).toContain('proposal 2: valid, solved 2 of 2, reward 0');
  });

  example('a program that gives another output the second time is no task', async () => {
    let runs = 0;
    const strategy = strategyById('propose_solve');
    const fickle = {
      id: 'f',
      version: 1,
      description: '',
      run: () => ({ ok: true as const, output: `${runs++}`, steps: 1 }),
    };
    const query = strategy.run(item, strategy.params.parse({ proposals: 1 }), {
      ...context(),
      language: fickle,
    });
    const { outcome } = await drive(query, settings['propose_solve']!.respond);
    expect(decisionsOf(outcome)).toContain('gives another output the second time');
  });
});

describe('evolve', () => {
  const born = (program: string, score: number, at: number): Individual => ({
    program,
    call_id: `c${at}`,
    score,
    behaviour: program,
    born: at,
  });

  test.prop([
    fc.array(fc.tuple(fc.string({ maxLength: 60 }), fc.integer({ min: 0, max: 10 })), { maxLength: 40 }),
  ])('a cell keeps only the fittest and the best never gets worse', (programs) => {
    const archive = newArchive({ islands: 2, bins: 4 });
    let top = -1;
    for (const [at, [program, score]] of programs.entries()) {
      insert(archive, at % 2, born(program, score, at));
      const now = best(archive)?.score ?? -1;
      expect(now).toBeGreaterThanOrEqual(top);
      top = now;
    }
    expect(top).toBe(Math.max(-1, ...programs.map(([, score]) => score)));
    expect(ranking(archive, 0).length).toBeLessThanOrEqual(16);
  });

  // biome-ignore format: a table is read in columns
  example.each<readonly [text: string, program: string | null, why: string]>([
    ['<<<<<<< SEARCH\nx3\n=======\nx2\n>>>>>>> REPLACE', 'x2', 'replaces'],
    ['<<<<<<< SEARCH\nx9\n=======\nx2\n>>>>>>> REPLACE', null, 'the searched text is not there'],
    ['x2',                                               null, 'no block'],
  ])('%j makes %j of x3: %s', (text, program) => {
    const applied = applyEdits('x3', text);
    expect(applied.ok ? applied.program : null).toBe(program);
  });

  example(
    'changes that do not apply are counted, and the search ends when every example is met',
    async () => {
      const { outcome, batches } = await ask('evolve', { islands: 1, iterations: 5 }, (call) =>
        call.round === 0
          ? '```\nx3\n```'
          : call.round === 1
            ? 'no change'
            : '<<<<<<< SEARCH\nx3\n=======\nx2\n>>>>>>> REPLACE',
      );
      expect(batches).toHaveLength(3);
      expect(answerOf(outcome)).toBe('x2');
      expect(decisionsOf(outcome)).toContain('1 changes did not apply');
    },
  );
});
