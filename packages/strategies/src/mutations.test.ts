import type { CallRequest } from '@perwatt/core';
import type { Script, Scripted } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { answerOf, ask, decisionsOf, textOf } from './asking.fixture.js';

/** A case that tells the right version of a rule from a wrong one. */
interface Distinction {
  readonly strategy: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly script: Script;
  /** What is looked at. */
  readonly seen: (asked: Awaited<ReturnType<typeof ask>>) => unknown;
  readonly right: unknown;
  /** What the wrong version shows of the same case. */
  readonly wrong: unknown;
}

const cut = (text: string): Scripted => ({ text, finish: 'length' });
const answer: Distinction['seen'] = ({ outcome }) => answerOf(outcome);
const byId = (said: Readonly<Record<string, Scripted>>, otherwise: Scripted) => (call: CallRequest) =>
  said[call.id] ?? otherwise;
const spawnCall = (tool: string, args: unknown) =>
  `<tool_call>${JSON.stringify({ name: tool, arguments: args })}</tool_call>`;
const twoClones = byId(
  {
    'root-0': spawnCall('spawn_clone', { objectives: ['a', 'b'] }),
    'clone-0-0': `Answer: ${'x'.repeat(300)}END-0`,
    'clone-0-1': `Answer: ${'y'.repeat(300)}END-1`,
  },
  'Answer: 42',
);
/** What the root was told of its clones. */
const joined = ({ batches }: Awaited<ReturnType<typeof ask>>): string =>
  textOf(batches.at(-1)![0]!.input).split('<tool_response>\n')[1]!.split('\n</tool_response>')[0]!;
const solution = '## Solution\nIt is 42.\n## Self Evaluation\nFine. \\boxed{1}';

const distinctions: Readonly<Record<string, Distinction>> = {
  'nulls vote': {
    strategy: 'self_consistency',
    params: { attempts: 5 },
    script: ['none', 'none', 'none', '42', '42'],
    seen: answer,
    right: '42',
    wrong: null,
  },
  'an answer that was cut votes': {
    strategy: 'self_consistency',
    params: { attempts: 3 },
    script: [cut('9'), cut('9'), '42'],
    seen: answer,
    right: '42',
    wrong: '9',
  },
  'of a tie the last one wins': {
    strategy: 'self_consistency',
    params: { attempts: 4 },
    script: ['7', '42', '42', '7'],
    seen: answer,
    right: '7',
    wrong: '42',
  },
  'a member of a debate reads its own answer among the others’': {
    strategy: 'debate',
    script: (call) => (call.role === 'summariser' ? 'SUMMARY' : `MINE-${call.branch} 42`),
    seen: ({ batches }) =>
      textOf(batches[1]![0]!.input)
        .match(/MINE-\d/g)
        ?.sort(),
    right: ['MINE-1', 'MINE-2'],
    wrong: ['MINE-0', 'MINE-1', 'MINE-2'],
  },
  'all rounds of a debate vote': {
    strategy: 'debate',
    params: { summaries: false },
    script: ['7', '7', '7', '7', '42', '42'],
    seen: answer,
    right: '42',
    wrong: '7',
  },
  'the rule of zero is dropped: a task that is never solved earns most': {
    strategy: 'propose_solve',
    params: { proposals: 1, estimate: 2 },
    script: (call) => (call.role === 'proposer' ? '{"program": "x3", "input": "4"}' : 'Answer: 1'),
    seen: ({ outcome }) => decisionsOf(outcome).match(/solved .*/)?.[0],
    right: 'solved 0 of 2, reward 0',
    wrong: 'solved 0 of 2, reward 1',
  },
  'a join is not clipped': {
    strategy: 'delegate',
    script: twoClones,
    seen: (asked) => joined(asked).length,
    right: 512,
    wrong: 2 * ('turn0_clone0: '.length + 305) + 1,
  },
  'one line of a join is not clipped': {
    strategy: 'delegate',
    script: byId(
      {
        'root-0': spawnCall('spawn_clone', { objectives: ['a'] }),
        'clone-0-0': `Answer: ${'x'.repeat(300)}`,
      },
      'Answer: 42',
    ),
    seen: (asked) => joined(asked).length,
    right: 'turn0_clone0: '.length + 256,
    wrong: 'turn0_clone0: '.length + 300,
  },
  'a join keeps the left side': {
    strategy: 'delegate',
    script: twoClones,
    seen: (asked) => ['END-0', 'END-1'].filter((end) => joined(asked).includes(end)),
    right: ['END-0', 'END-1'],
    wrong: [],
  },
  'a clone may spawn': {
    strategy: 'delegate',
    script: twoClones,
    seen: ({ batches }) => JSON.stringify(batches[1]).includes('spawn_clone'),
    right: false,
    wrong: true,
  },
  'a child sees what its parent was asked': {
    strategy: 'spawn_join',
    script: byId({ 'root-0': spawnCall('spawn', { msgs: ['branch one'] }) }, 'Answer: 42'),
    seen: ({ batches }) => textOf(batches[1]![0]!.input).includes('6 × 7'),
    right: false,
    wrong: true,
  },
  'a verdict that can’t be read counts as 0': {
    strategy: 'prove_verify_refine',
    params: { pool: 2, verifications: 3, rounds: 1, meta: false },
    script: byId(
      {
        'proof-0-0': solution,
        'proof-0-1': solution,
        'verify-proof-0-0-0': '\\boxed{0.5}',
        'verify-proof-0-0-1': '\\boxed{0.5}',
        'verify-proof-0-0-2': '\\boxed{0}',
        'verify-proof-0-1-0': '\\boxed{0.5}',
      },
      'no verdict',
    ),
    seen: ({ outcome }) => outcome.status === 'answered' && outcome.call_id,
    right: 'proof-0-1',
    wrong: 'proof-0-0',
  },
  'attempts without an answer leave the agreement of a cascade': {
    strategy: 'cascade',
    params: { threshold: 0.5 },
    script: ['42', { error_code: 'timeout' }, 'none', '99'],
    seen: answer,
    right: '99',
    wrong: '42',
  },
  'the supervisor of minions sees the passages': {
    strategy: 'minions',
    params: { max_rounds: 1 },
    script: (call) =>
      call.id.startsWith('plan')
        ? '{"chunker": {"by": "paragraphs", "size": 1}, "tasks": [{"id": "a", "instruction": "x"}], "samples": 1}'
        : '{"answer": "42"}',
    seen: ({ batches }) =>
      batches.flat().some((call) => call.role === 'supervisor' && textOf(call.input).includes('SECRET')),
    right: false,
    wrong: true,
  },
  'skills reach an actor that is to have none': {
    strategy: 'env_react',
    script: () => 'Action: forward',
    seen: ({ batches }) => JSON.stringify(batches).includes('SKILL'),
    right: false,
    wrong: true,
  },
  'an action that is not possible is free': {
    strategy: 'env_react',
    script: () => 'Action: dance',
    seen: ({ outcome }) => decisionsOf(outcome),
    right: 'not solved in 6 actions, 6 not possible, reward 0',
    wrong: 'not solved in 0 actions, 6 not possible, reward 0',
  },
  'ends of thinking are ignored for ever': {
    strategy: 'budget_forcing',
    params: { thinking_tokens: 1000, ignores: 2 },
    script: () => 'hm',
    seen: ({ batches }) => textOf(batches.at(-1)![0]!.input).match(/Wait/g)?.length,
    right: 2,
    wrong: 1000,
  },
  'a budget of calls is not kept': {
    strategy: 'self_consistency',
    params: { attempts: 3, budget: { calls: 2 } },
    script: ['42', '42', '42'],
    seen: ({ batches }) => batches.flat().length,
    right: 2,
    wrong: 3,
  },
};

test.each(Object.entries(distinctions))('is caught: %s', async (_, distinction) => {
  const { strategy, params = {}, script, seen, right, wrong } = distinction;
  const asked = await ask(strategy, params, script);
  expect(right).not.toEqual(wrong);
  expect(seen(asked)).toEqual(right);
});
