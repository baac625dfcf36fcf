import { shuffled } from '../../random.js';
import { type Drawn, type GeneratedLevel, generatedSet, type RngFor } from '../generated-set.js';
import type { ProgramShape } from './draw-program.js';
import { languageDescription } from './language.js';
import { PROGRAM_VERSION, type ProgramKind } from './program-world.js';
import { type DrawnTask, drawTask } from './tasks.js';

interface Level extends GeneratedLevel, ProgramShape {}

const level = (summary: string, shape: ProgramShape): Level => ({ summary, answer_tokens: 1024, ...shape });

const levels: readonly Level[] = [
  level('a number and one or two steps', { parameters: ['number'], statements: [1, 2] }),
  level('a list and one or two steps', { parameters: ['list'], statements: [1, 2] }),
  level('a list and a number, two or three steps', { parameters: ['list', 'number'], statements: [2, 3] }),
  level('a list and a number, four to six steps', { parameters: ['list', 'number'], statements: [4, 6] }),
];

/** Lines that hold no answer are steps too, and answers stand at the end of a reasoning. */
const MAX_STEPS = 1000;

interface Kind {
  readonly id: ProgramKind;
  readonly grader: string;
  readonly summary: string;
  readonly question: (task: DrawnTask) => string;
  readonly gold: (task: DrawnTask) => string;
  /** How many of the pairs belong to the question. */
  readonly pairs: number;
  /** Pairs that the question shows, for strategies that try programs on them; absent where none are shown so. */
  readonly shown?: number;
  readonly described: boolean;
}

function programSet(kind: Kind) {
  return generatedSet<Level>({
    id: kind.id,
    version: 1,
    grader: kind.grader,
    summary: kind.summary,
    levels,
    options: [
      { name: 'tries', summary: 'answers an actor may give in the world of the task, 1 to 10, default 1' },
    ],
    prepare(shape, options) {
      const tries = options.whole('tries', { min: 1, max: 10 }) ?? 1;
      return (rng) => draw(kind, shape, { tries, rng });
    },
  });
}

interface Drawing {
  readonly tries: number;
  readonly rng: RngFor;
}

function draw(kind: Kind, shape: Level, { tries, rng }: Drawing): Drawn | null {
  const task = drawTask(rng('program'), shape);
  if (task === null) return null;
  const used = { ...task, pairs: shuffled(rng('pairs'), task.pairs).slice(0, kind.pairs) };
  const question = kind.described ? `${languageDescription}\n\n${kind.question(used)}` : kind.question(used);
  const data = {
    kind: 'world',
    world: 'program',
    world_version: PROGRAM_VERSION,
    task: kind.id,
    question,
    program: used.program,
    pairs: used.pairs,
    ...(kind.shown !== undefined && { examples: used.pairs.slice(0, kind.shown).map(exampleOf) }),
    tries,
    max_steps: MAX_STEPS,
  };
  return {
    prompt: question,
    gold: kind.gold(used),
    subject: `${shape.parameters.join(' and ')}`,
    data,
    identity: [kind.id, used.program, used.pairs],
  };
}

const exampleOf = ([input = '', output = '']: readonly string[]) => ({ input, output });
const inputOf = ({ pairs }: DrawnTask) => pairs[0]?.[0] ?? '';
const outputOf = ({ pairs }: DrawnTask) => pairs[0]?.[1] ?? '';

/** Deduction: what a program returns. */
export const codeOutput = programSet({
  id: 'code_o',
  grader: 'literal',
  summary: 'generated programs in a small part of Python: what do they return (deduction)',
  pairs: 1,
  described: false,
  question: (task) =>
    `Here is a program:\n\n${task.program}\n\nWhat does f(${inputOf(task)}) return? Work it out step by step and finish with a line "Answer: X", where X is the value alone.`,
  gold: outputOf,
});

/** Abduction: arguments that make a program return a value; any that do are right. */
export const codeInput = programSet({
  id: 'code_i',
  grader: 'environment',
  summary: 'generated programs in a small part of Python: what were they given (abduction)',
  pairs: 1,
  described: false,
  question: (task) =>
    `Here is a program:\n\n${task.program}\n\nFind arguments for which f returns ${outputOf(task)}. Work it out step by step and finish with a line "Answer: X", where X are the arguments as they stand between the brackets of the call; any that give this value are right.`,
  gold: (task) => `Answer: ${inputOf(task)}`,
});

const SHOWN = 5;

/** Induction: a program from half of ten pairs; it has to give the other half too. */
export const codeProgram = programSet({
  id: 'code_f',
  grader: 'environment',
  summary: 'generated programs in a small part of Python: which program is it (induction)',
  pairs: 10,
  shown: SHOWN,
  described: true,
  question: ({ pairs }) => {
    const shown = pairs.slice(0, SHOWN).map(([input, output]) => `f(${input}) returns ${output}`);
    return `This is what a program f returns for some arguments:\n\n${shown.join('\n')}\n\nFind the program. It is tried on these and on ${pairs.length - SHOWN} more. Work it out step by step and finish with the whole program on one line that begins with "def f(".`;
  },
  gold: ({ program }) => program,
});
