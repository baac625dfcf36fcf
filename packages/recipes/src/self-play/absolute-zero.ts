import { seedFrom } from '@perwatt/core';
import * as z from 'zod';
import { below, createRandom } from '../numeric/random.js';
import {
  actionAt,
  ascend,
  clampRow,
  createTable,
  probabilities,
  type SoftmaxTable,
} from '../numeric/softmax.js';
import { defineRecipe, type Trainer } from '../recipe.js';
import { type Execution, execute } from './execute.js';
import {
  createOperations,
  createSolver,
  DIGITS,
  drawProgram,
  LONGEST,
  type Operations,
  outputOf,
} from './programs.js';
import { proposerReward } from './reward.js';
import { answerProgram, programItems } from './serve.js';

/** Parameters of `absolute_zero`. */
export const AbsoluteZeroParams = z.strictObject({
  tokens: z.int().min(1).max(1e9).default(2_000_000).describe('Operations that the solver executes in all'),
  steps: z.int().min(1).max(100_000).default(100).describe('Training steps that the budget is cut into'),
  proposer: z
    .enum(['learned', 'uniform', 'easy', 'hard'])
    .default('learned')
    .describe(
      'Who chooses the length of tasks: the learned proposer, chance, or always the shortest or longest',
    ),
  zero_rule: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Whether a task that is never solved earns its proposer nothing'),
  attempts: z.int().min(2).max(64).default(8).describe('Attempts a task'),
  bias: z
    .number()
    .min(-10)
    .max(10)
    .default(3)
    .describe('How well the solver knows the operations before training'),
  solver_lr: z.number().gt(0).max(10).default(0.15).describe('Step length of the solver'),
  proposer_lr: z.number().gt(0).max(10).default(0.05).describe('Step length of the proposer'),
  eval_items: z.int().min(1).max(100_000).default(1000).describe('Held-out tasks, lengths uniform'),
  eval_every: z.int().min(1).default(5).describe('Steps between two evaluations'),
});
type Params = z.infer<typeof AbsoluteZeroParams>;

/** An `absolute_zero` trainer with its two policies. */
export interface SelfPlayTrainer extends Trainer {
  readonly solver: SoftmaxTable;
  readonly operations: Operations;
  /** Mean length that the proposer would propose now. */
  meanLength(): number;
}

const TASKS_BETWEEN_REFRESHES = 16;

/** Places of the counters: steps, tokens, tasks since the proposer was read, its baseline. */
const [STEP, TOKENS, TASKS, BASELINE] = [0, 1, 2, 3];

function start(params: Params, seed: number): SelfPlayTrainer {
  const operations = createOperations(seed);
  const solver = createSolver(operations, { seed, bias: params.bias });
  const proposer = createTable(1, LONGEST);
  const random = createRandom(seed, 'absolute-zero');
  const counters = Float64Array.of(0, 0, 0, 0.5);
  const baselines = new Float64Array(LONGEST).fill(0.5);
  const current = new Float64Array(LONGEST).fill(1 / LONGEST);
  const fixed = { uniform: null, learned: null, easy: 1, hard: LONGEST }[params.proposer];
  const draw = (): number => {
    if (fixed !== null) return fixed;
    if (params.proposer === 'uniform') return 1 + below(random, LONGEST);
    if ((counters[TASKS] ?? 0) % TASKS_BETWEEN_REFRESHES === 0) probabilities(proposer, 0, current);
    return 1 + actionAt(current, random.next());
  };
  const learn = (length: number, rate: number) => {
    if (params.proposer !== 'learned') return;
    const reward = proposerReward(rate, params.zero_rule);
    const baseline = counters[BASELINE] ?? 0;
    ascend(proposer, { row: 0, action: length - 1, p: current }, params.proposer_lr * (reward - baseline));
    clampRow(proposer, 0, 3);
    counters[BASELINE] = baseline + 0.02 * (reward - baseline);
  };
  const task = (): { readonly rate: number; readonly length: number } => {
    const length = draw();
    const program = drawProgram(length, random);
    const truth = outputOf(operations, program);
    let solved = 0;
    for (let k = 0; k < params.attempts; k++) {
      const run = execute(solver, program, random);
      const reward = run.output === truth ? 1 : 0;
      solved += reward;
      const baseline = baselines[length - 1] ?? 0;
      baselines[length - 1] = baseline + 0.05 * (reward - baseline);
      reinforce(solver, run, params.solver_lr * (reward - baseline));
    }
    learn(length, solved / params.attempts);
    counters[TASKS] = (counters[TASKS] ?? 0) + 1;
    counters[TOKENS] = (counters[TOKENS] ?? 0) + params.attempts * length;
    return { rate: solved / params.attempts, length };
  };
  const meanLength = () => {
    const p = new Float64Array(LONGEST);
    probabilities(proposer, 0, p);
    return p.reduce((sum, chance, i) => sum + chance * (i + 1), 0);
  };
  return {
    solver,
    operations,
    meanLength,
    state: {
      solver: solver.logits,
      proposer: proposer.logits,
      random: random.state,
      counters,
      baselines,
      current,
    },
    get step() {
      return counters[STEP] ?? 0;
    },
    train() {
      const before = counters[TOKENS] ?? 0;
      const target = (params.tokens * ((counters[STEP] ?? 0) + 1)) / params.steps;
      let [tasks, rate] = [0, 0];
      while ((counters[TOKENS] ?? 0) < target) {
        rate += task().rate;
        tasks += 1;
      }
      counters[STEP] = (counters[STEP] ?? 0) + 1;
      const tokens = (counters[TOKENS] ?? 0) - before;
      return {
        step: counters[STEP],
        tokens,
        env_actions: 0,
        privileged_actions: 0,
        calls: tasks * params.attempts,
        verification_tokens: tokens / params.attempts,
        updates: tasks * params.attempts,
        rejected_updates: 0,
        reward: tasks === 0 ? 0 : rate / tasks,
      };
    },
    evaluate() {
      const scores = new Float64Array(params.eval_items);
      let tokens = 0;
      for (let i = 0; i < scores.length; i++) {
        const own = createRandom(seedFrom(seed, 'held-out', i), 'absolute-zero');
        const program = drawProgram(1 + (i % LONGEST), own);
        scores[i] = execute(solver, program, own).output === outputOf(operations, program) ? 1 : 0;
        tokens += program.operations.length;
      }
      return {
        step: counters[STEP] ?? 0,
        scores,
        tokens,
        calls: scores.length,
        measures: { mean_length: meanLength(), tokens_so_far: counters[TOKENS] ?? 0 },
      };
    },
  };
}

/** One policy-gradient step on all that an execution chose. */
function reinforce(
  solver: SoftmaxTable,
  { rows, digits, probabilities: all }: Execution,
  weight: number,
): void {
  for (let step = 0; step < rows.length; step++) {
    const p = all.subarray(step * DIGITS, (step + 1) * DIGITS);
    ascend(solver, { row: rows[step] ?? 0, action: digits[step] ?? 0, p }, weight);
  }
}

/** Self-play of a proposer and a solver without any data. */
export const absoluteZero = defineRecipe({
  id: 'absolute_zero',
  version: 1,
  title: 'Self-play without data',
  summary:
    'a proposer learns to set programs that are hard but not too hard, and a solver learns to run them',
  effort: 'tokens',
  claims: [
    {
      text: 'At 40 % of the budget the learned curriculum is more than 0.1 ahead of uniform lengths.',
      status: 'supported',
    },
    {
      text: 'It reaches 0.97 with at least 1.5 times fewer tokens than uniform lengths.',
      status: 'supported',
    },
    { text: 'Without the rule that unsolved tasks earn nothing, it stays below 0.5.', status: 'supported' },
    { text: 'The proposer moves on to longer programs by itself.', status: 'supported' },
    {
      text: 'An effect where depth does not matter: then easy tasks teach as much as any.',
      status: 'not_supported',
    },
    { text: 'That proposals are valid programs: all of them are here.', status: 'not_supported' },
  ],
  params: AbsoluteZeroParams,
  length: ({ steps, eval_every }) => ({ steps, eval_every }),
  start,
  serve: { votes: true, items: programItems, answer: answerProgram },
});
