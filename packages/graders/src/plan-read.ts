import type { BlocksNames, PlanStep } from './blocks.js';
import type { Range } from './reasoning.js';

/** How a plan is read: objects by what they are called in text, operators by their names in the domain. */
export interface PlanWords {
  readonly names: BlocksNames;
  /** `red block` → `a`, `object b` → `b`. */
  readonly objects: Readonly<Record<string, string>>;
}

/** The steps of a plan and the range of text they stand in; null where there is none. */
export interface ReadPlan {
  readonly steps: readonly PlanStep[];
  readonly range: Range;
}

const END = /\[plan end\]|\[statement\]|\[cost\]/i;
const MAX_STEPS = 2000;

/**
 * Reads a plan line by line: between the last `[PLAN]` and `[PLAN END]` where they stand, else from the start to the first
 * end mark. The action is told by its keyword, objects by their order of appearance; PDDL steps are read as they are;
 * lines without an action are skipped. A step keeps as many objects as it has, so that a wrong number makes the plan fail.
 */
export function readPlan(text: string, words: PlanWords): ReadPlan | null {
  const opened = text.toLowerCase().lastIndexOf('[plan]');
  const from = opened === -1 ? 0 : opened + '[plan]'.length;
  const end = text.slice(from).search(END);
  return readLines(text, [from, end === -1 ? text.length : from + end], (line) => robustStep(line, words));
}

/**
 * PlanBench's reader: `pick up` and `put down` become operators, a line counts when an operator stands in it as a word and
 * it names as many objects as the operator takes; other lines are dropped.
 */
export function readPlanOfficially(text: string, words: PlanWords): ReadPlan | null {
  const end = text.search(/\[plan end\]|\[statement\]/i);
  return readLines(text, [0, end === -1 ? text.length : end], (line) => officialStep(line, words));
}

function readLines(
  text: string,
  [from, to]: Range,
  stepOf: (line: string) => PlanStep | null,
): ReadPlan | null {
  const steps: PlanStep[] = [];
  let range: Range | null = null;
  for (let at = from; at < to && steps.length < MAX_STEPS; ) {
    const newline = text.indexOf('\n', at);
    const lineEnd = newline === -1 ? to : Math.min(newline, to);
    const step = stepOf(text.slice(at, lineEnd).toLowerCase());
    if (step !== null) {
      steps.push(step);
      range = [range?.[0] ?? at, lineEnd];
    }
    at = lineEnd + 1;
  }
  return range === null ? null : { steps, range };
}

const PDDL = /^[\s\d.):*-]{0,12}\((?<action>[a-z][a-z-]*)(?<objects>(?:\s+[\w-]+){1,4})\s*\)/;

function robustStep(line: string, { names, objects }: PlanWords): PlanStep | null {
  const pddl = PDDL.exec(line)?.groups;
  const operators = operatorsOf(names);
  if (pddl !== undefined && operators.includes(pddl['action'] ?? '')) {
    return { action: pddl['action'] ?? '', objects: (pddl['objects'] ?? '').trim().split(/\s+/) };
  }
  const action = actionOf(line, names);
  if (action === null) return null;
  const wanted = action === names.pickUp || action === names.putDown ? 1 : 2;
  return { action, objects: objectsIn(line, objects).slice(0, wanted) };
}

function actionOf(line: string, names: BlocksNames): string | null {
  if (names.stack !== 'stack') return operatorsOf(names).find((name) => isWordIn(name, line)) ?? null;
  if (isWordIn('unstack', line)) return names.unstack;
  if (isWordIn('pick', line) || isWordIn('pick-up', line)) return names.pickUp;
  if (isWordIn('put', line) || isWordIn('put-down', line)) return names.putDown;
  return isWordIn('stack', line) ? names.stack : null;
}

function officialStep(line: string, { names, objects }: PlanWords): PlanStep | null {
  const renamed = line.replaceAll('pick up', 'pick-up').replaceAll('put down', 'put-down');
  const words = renamed.split(/\s+/);
  const action = operatorsOf(names).find((name) => words.includes(name));
  if (action === undefined) return null;
  const found = firstPlaces(renamed, objects);
  const wanted = action === names.pickUp || action === names.putDown ? 1 : 2;
  return found.length === wanted ? { action, objects: found } : null;
}

const operatorsOf = (names: BlocksNames) => [names.pickUp, names.putDown, names.stack, names.unstack];

const isWordIn = (word: string, line: string): boolean => {
  const at = line.indexOf(word);
  if (at === -1) return false;
  const around = `${line[at - 1] ?? ' '}${line[at + word.length] ?? ' '}`;
  return !/[a-z0-9-]/.test(around) || isWordIn(word, line.slice(at + word.length));
};

/** Objects by where their names first stand, even inside a word; each once. */
const firstPlaces = (line: string, objects: PlanWords['objects']): string[] =>
  Object.entries(objects)
    .map(([name, symbol]) => ({ at: line.indexOf(name), symbol }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)
    .map(({ symbol }) => symbol);

/** Objects by all places of their names as words. A block is told by its colour, any other object by its whole name. */
function objectsIn(line: string, objects: PlanWords['objects']): string[] {
  const places: { readonly at: number; readonly symbol: string }[] = [];
  for (const [full, symbol] of Object.entries(objects)) {
    const name = full.replace(/ block$/, '');
    for (let at = line.indexOf(name); at !== -1; at = line.indexOf(name, at + name.length)) {
      const around = `${line[at - 1] ?? ' '}${line[at + name.length] ?? ' '}`;
      if (!/[a-z0-9]/.test(around)) places.push({ at, symbol });
    }
  }
  return places.sort((a, b) => a.at - b.at).map(({ symbol }) => symbol);
}
