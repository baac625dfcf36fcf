import { type GradeInput, type Grader, PerwattError } from '@perwatt/core';
import { blocksNames, type PlanStep, planFault } from './blocks.js';
import { textLists, textMap } from './data-fields.js';
import { decide, decideOfficial, type Found } from './decide.js';
import { type PlanWords, type ReadPlan, readPlan, readPlanOfficially } from './plan-read.js';
import { checkPolicies } from './policy.js';

/**
 * Carries out plans of Blocksworld and of its obfuscated twin and checks their goal. Any valid plan is right, however long; one
 * that is no longer than the gold plan has the flag `as-short-as-gold`. Needs the item's `data` of kind `plan` (domain, init, goal,
 * objects); without it a grade is `unscored`. Official mode reads plans as PlanBench does, whose reader drops lines it
 * can't place.
 */
export const plan: Grader = {
  id: 'plan',
  version: 1,
  grade(input) {
    checkPolicies(input.policy);
    const problem = problemOf(input.data);
    if (problem === null) return unusable(input);
    const goldSteps = readPlan(input.gold, problem)?.steps.length ?? null;
    const judge = {
      goldProblem: null,
      compare(steps: readonly PlanStep[]) {
        const reason = planFault(steps, problem.names, problem);
        const short = reason === null && goldSteps !== null && steps.length <= goldSteps;
        return { correct: reason === null, reason, flags: short ? ['as-short-as-gold'] : [] };
      },
    };
    if (input.mode === 'official') {
      const find = (text: string) => foundOf(readPlanOfficially(text, problem), 'plan.official');
      return decideOfficial<readonly PlanStep[]>(input, { ...judge, find });
    }
    return decide<readonly PlanStep[]>(input, {
      ...judge,
      find: (text) => foundOf(readPlan(text, problem), 'plan.steps'),
      firstAnswerEnd: () => null,
    });
  },
  extract: () => null,
  same: (a, b) => a === b,
};

interface Problem extends PlanWords {
  readonly init: readonly (readonly string[])[];
  readonly goal: readonly (readonly string[])[];
}

function problemOf(data: GradeInput['data']): Problem | null {
  if (data?.['kind'] !== 'plan') return null;
  const domain = data['domain'];
  const [init, goal] = [textLists(data['init']), textLists(data['goal'])];
  const objects = textMap(data['objects']);
  if (domain !== 'blocksworld' && domain !== 'mystery-blocksworld')
    throw new PerwattError(
      'INPUT_INVALID',
      `plan: domain is ${JSON.stringify(domain)}, not one of ${Object.keys(blocksNames).join(', ')}`,
    );
  return init === null || goal === null || objects === null
    ? null
    : { names: blocksNames[domain], init, goal, objects };
}

const unusable = (input: GradeInput) =>
  decide<never>(input, {
    find: () => ({ status: 'none', reason: '', flags: [] }),
    firstAnswerEnd: () => null,
    compare: () => ({ correct: false, reason: null, flags: [] }),
    goldProblem: 'the item says nothing of a planning problem (`data` with domain, init, goal, objects)',
  });

function foundOf(read: ReadPlan | null, rule: string): Found<readonly PlanStep[]> {
  if (read === null) return { status: 'none', reason: 'no line of it is a step of a plan', flags: [] };
  const [start, end] = read.range;
  return { status: 'found', value: read.steps, start, end, rule, flags: [] };
}
