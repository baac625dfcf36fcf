import {
  type CallRequest,
  createRng,
  type Item,
  type ProgramRun,
  type StrategyContext,
  type WorldEpisode,
} from '@perwatt/core';
import type { Scripted } from '@perwatt/test-kit';

/** A question with all that a strategy may want of it. */
export const item: Item = {
  id: 'q1',
  prompt: '6 × 7?',
  gold: '42',
  options: null,
  subject: null,
  data: {
    examples: [
      { input: '1', output: '2' },
      { input: '5', output: '10' },
    ],
  },
  material: {
    task: 'What is 6 × 7?',
    passages: [
      { key: 'Six', text: 'SECRET-SIX six times seven is forty-two.' },
      { key: 'Seven', text: 'SECRET-SEVEN seven is prime.' },
    ],
  },
};

/** A language of one rule: `xN` multiplies the input by N. */
export const language = {
  id: 'times',
  version: 1,
  description: 'A program xN multiplies its input by N.',
  run(program: string, input: string): ProgramRun {
    const factor = /^x(\d+)$/.exec(program)?.[1];
    if (factor === undefined) return { ok: false, reason: `"${program}" is no program` };
    return { ok: true, output: String(Number(factor) * Number(input)), steps: 1 };
  },
};

/** A world of one corridor: three times "forward" wins; anything else but "back" is not possible. */
export function corridor(max_steps = 6): WorldEpisode {
  const actions: string[] = [];
  let at = 0;
  return {
    opening: 'You stand in a corridor of three doors.',
    skills: 'SKILL: go forward until the end.',
    actions,
    max_steps,
    act(action) {
      actions.push(action);
      const valid = ['forward', 'back'].includes(action);
      if (action === 'forward') at += 1;
      if (action === 'back') at = Math.max(0, at - 1);
      return { observation: `You are at door ${at}.`, valid, done: at >= 3 || actions.length >= max_steps };
    },
    admissible: () => ['forward', 'back'],
    won: () => at >= 3,
    reward: () => Math.min(1, at / 3),
  };
}

/** A context with everything in it. */
export const context = (seed = 1): StrategyContext => ({
  answers: {
    extract: (text) => /\d+/.exec(text)?.[0] ?? null,
    same: (a, b) => Number(a) === Number(b),
  },
  rng: createRng(seed),
  max_tokens: 64,
  check: ({ text, finish }) => finish !== 'length' && /\b42\b/.test(text),
  openWorld: () => corridor(),
  language,
  router: { score: (prompt) => Math.min(1, prompt.length / 100), threshold: 0.5 },
});

/** How a strategy is tried: parameters as a matrix gives them, and what a model that knows its part answers. */
export interface Setting {
  readonly params: Readonly<Record<string, unknown>>;
  readonly respond: (call: CallRequest) => Scripted;
}

const solves = (): Scripted => 'It is 42.';
const byRole = (roles: Readonly<Record<string, (call: CallRequest) => Scripted>>) => (call: CallRequest) =>
  (roles[call.role] ?? solves)(call);

const spawn = (call: CallRequest): Scripted =>
  call.id === 'root-0'
    ? '<tool_call>{"name": "spawn_clone", "arguments": {"objectives": ["say 6", "say 7"], "shared_context": ["Six"]}}</tool_call>'
    : 'Answer: 42';

/** One setting for every strategy there is, by id. */
export const settings: Readonly<Record<string, Setting>> = {
  single: { params: {}, respond: solves },
  self_consistency: { params: { attempts: 3 }, respond: solves },
  weighted_vote: { params: { attempts: 3 }, respond: byRole({ verifier: () => 'Score: 8' }) },
  best_of_n: { params: { attempts: 3 }, respond: byRole({ verifier: () => 'Score: 8' }) },
  repeated_sampling: { params: { attempts: 4 }, respond: solves },
  sequential_revision: {
    params: { rounds: 3, select: 'verifier' },
    respond: byRole({ verifier: () => 'Score: 8' }),
  },
  compute_optimal: { params: { calls: 5, probes: 2, edges: [], parallel: [0.5] }, respond: solves },
  budget_forcing: { params: { thinking_tokens: 8, ignores: 2 }, respond: solves },
  debate: { params: {}, respond: byRole({ summariser: () => 'All say 42.' }) },
  prove_verify_refine: {
    params: { pool: 2, verifications: 2 },
    respond: byRole({
      solver: () => '## Solution\nIt is 42.\n## Self Evaluation\nFine. \\boxed{1}',
      verifier: () => 'A gap. \\boxed{0.5}',
      meta: () => 'The gap is real. \\boxed{1}',
    }),
  },
  delegate: { params: { max_turns: 3 }, respond: byRole({ root: spawn, clone: () => 'Answer: 6' }) },
  spawn_join: {
    params: { max_turns: 3 },
    respond: byRole({
      root: (call) =>
        call.id === 'root-0'
          ? '<tool_call>{"name": "spawn", "arguments": {"msgs": ["branch one", "branch two"]}}</tool_call>'
          : 'Answer: 42',
      worker: () => 'Result: 6',
    }),
  },
  team_vote: { params: {}, respond: solves },
  env_react: { params: {}, respond: () => 'On we go.\nAction: forward' },
  route_threshold: { params: {}, respond: solves },
  route_learned: { params: { router: 'router.json' }, respond: solves },
  cascade: {
    params: {},
    respond: (call) => (call.endpoint === 'weak' ? `It is ${call.branch}.` : 'It is 42.'),
  },
  minion: {
    params: {},
    respond: byRole({
      supervisor: (call) =>
        call.id === 'supervisor-0'
          ? '{"reasoning": "ask", "decision": "request_additional_info", "message": "What is six times seven?"}'
          : '{"reasoning": "known", "decision": "provide_final_answer", "message": "42"}',
      worker: () => 'forty-two',
    }),
  },
  minions: {
    params: { max_rounds: 2 },
    respond: byRole({
      supervisor: (call) =>
        call.id.startsWith('plan')
          ? '{"chunker": {"by": "paragraphs", "size": 1}, "tasks": [{"id": "a", "instruction": "Find the product."}], "samples": 1}'
          : '{"reasoning": "found", "answer": "42"}',
      worker: () => '{"explanation": "read", "citation": "forty-two", "answer": "42"}',
    }),
  },
  propose_solve: {
    params: {},
    respond: byRole({
      proposer: () => '{"program": "x3", "input": "4"}',
      solver: (call) => (call.id.startsWith('try') ? 'Answer: 12' : 'It is 42.'),
    }),
  },
  evolve: {
    params: { iterations: 2 },
    respond: (call) =>
      call.id.startsWith('program-0') ? '```\nx3\n```' : '<<<<<<< SEARCH\nx3\n=======\nx2\n>>>>>>> REPLACE',
  },
};
