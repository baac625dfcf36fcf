import { PerwattError } from '@perwatt/core';
import { type GeneratedLevel, generatedSet, type RngFor } from '../generated-set.js';
import { groundProblem } from '../strips/ground.js';
import type { Problem } from '../strips/model.js';
import { domainPddl, problemPddl } from '../strips/pddl.js';
import { findPlan } from '../strips/search.js';
import { BLOCKSWORLD_VERSION, blockNames, blocksOpening, blocksRules } from './blocks-world.js';
import { blocksworldDomain } from './domain.js';
import { misplaced, onFacts, randomTowers, tableFacts } from './towers.js';

interface Level extends GeneratedLevel {
  readonly blocks: number;
}

const levels: readonly Level[] = [3, 4, 5, 6, 7, 8].map((blocks) => ({
  summary: `${blocks} blocks`,
  answer_tokens: 256 + 128 * blocks,
  blocks,
}));

const forms = ['words', 'pddl'] as const;
const MAX_STEPS = 60;

/** Blocksworld problems with a shortest plan each; any valid plan is right. */
export const blocksworld = generatedSet<Level>({
  id: 'blocksworld',
  version: 1,
  grader: 'plan',
  summary: 'generated plans of Blocksworld: stack 3 to 8 blocks into a goal; also a world for step by step',
  levels,
  options: [{ name: 'form', summary: '"words" (default) or "pddl": how the problem is put' }],
  prepare: ({ blocks }, options) => {
    const form = options.oneOf('form', forms) ?? 'words';
    const names = blockNames.slice(0, blocks);
    return (rng) => draw(names, form, rng);
  },
});

function draw(
  names: readonly (readonly [colour: string, symbol: string])[],
  form: (typeof forms)[number],
  rng: RngFor,
) {
  const symbols = names.map(([, symbol]) => symbol);
  const init = tableFacts(randomTowers(rng('init'), symbols));
  const goal = onFacts(randomTowers(rng('goal'), symbols));
  const problem: Problem = {
    name: `${symbols.length}-blocks`,
    objects: Object.fromEntries(symbols.map((symbol) => [symbol, 'block'])),
    init,
    goals: [goal],
  };
  const ground = groundProblem(blocksworldDomain, problem);
  const found = findPlan(ground, { heuristic: misplaced(ground, goal) });
  if (found.status !== 'solved')
    throw new PerwattError(
      'INPUT_INVALID',
      `no plan for a table of ${symbols.length} blocks within the limit`,
    );
  if (goal.length === 0 || found.plan.length === 0) return null;
  const objects = Object.fromEntries(names.map(([colour, symbol]) => [`${colour} block`, symbol]));
  const data = {
    kind: 'plan',
    world: 'blocksworld',
    world_version: BLOCKSWORLD_VERSION,
    domain: 'blocksworld',
    init,
    goal,
    objects,
    max_steps: MAX_STEPS,
    shortest: found.plan.length,
  };
  return {
    prompt: form === 'words' ? wordsPrompt(data) : pddlPrompt(problem),
    gold: found.plan.map(({ operator, objects: args }) => `(${[operator, ...args].join(' ')})`).join('\n'),
    subject: `${symbols.length} blocks`,
    data,
    identity: [init, goal],
  };
}

const ending =
  'Find a plan that reaches the goal. Finish with the plan alone between a line [PLAN] and a line [PLAN END], one action a line';

const wordsPrompt = (data: Parameters<typeof blocksOpening>[0]) =>
  `${blocksRules}\n\n${blocksOpening(data)}\n\n${ending}, in the words of the list of actions above.`;

const pddlPrompt = (problem: Problem) =>
  `This is a planning domain:\n\n${domainPddl(blocksworldDomain)}\n\nThis is a problem in it:\n\n${problemPddl(blocksworldDomain.name, problem)}\n\n${ending}, each written as (action argument …).`;
