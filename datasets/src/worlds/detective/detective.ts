import type { Rng } from '@perwatt/core';
import { pick, several } from '../../random.js';
import { type Drawn, type GeneratedLevel, generatedSet, type RngFor } from '../generated-set.js';
import { type Case, everything, nothing, possibleThieves, type Suspect } from './case.js';
import { DETECTIVE_VERSION, detectiveOpening, honestQuestions } from './detective-world.js';

interface Level extends GeneratedLevel {
  readonly suspects: number;
  readonly rooms: number;
}

const levels: readonly Level[] = [
  { summary: '4 suspects, 3 rooms', answer_tokens: 256, suspects: 4, rooms: 3 },
  { summary: '5 suspects, 4 rooms', answer_tokens: 256, suspects: 5, rooms: 4 },
  { summary: '7 suspects, 5 rooms', answer_tokens: 256, suspects: 7, rooms: 5 },
];

const TURNS = 25;

/** Detective cases that all answers solve and no answers don't. */
export const detective = generatedSet<Level>({
  id: 'detective',
  version: 1,
  grader: 'environment',
  summary: 'generated detective cases: question the suspects, find the one who lies, accuse',
  levels,
  options: [{ name: 'max_steps', summary: `steps in a case, 1 to 1000, default ${TURNS}` }],
  prepare(size, options) {
    const max_steps = options.whole('max_steps', { min: 1, max: 1000 }) ?? TURNS;
    return (rng) => draw(size, max_steps, rng);
  },
});

const people = [
  'Abel',
  'Berta',
  'Carlo',
  'Dunja',
  'Emil',
  'Flora',
  'Gustav',
  'Hanna',
  'Igor',
  'Jutta',
  'Klara',
  'Leo',
];
const places = ['library', 'kitchen', 'cellar', 'garden', 'attic', 'ballroom', 'study', 'stable'];
const things = [
  'silver spoon',
  'old map',
  'pearl necklace',
  'music box',
  'gold watch',
  'letter',
  'small painting',
  'violin',
];
const marks = [
  'muddy boots',
  'a torn sleeve',
  'ink on the fingers',
  'a wet coat',
  'flour on the hands',
  'a bandaged thumb',
];

function draw({ suspects: count, rooms: size }: Level, max_steps: number, rng: RngFor): Drawn | null {
  const facts = drawCase(rng('case'), count, size);
  const plan = honestQuestions(facts);
  const isOpen = possibleThieves(nothing, facts).length === count;
  if (
    plan === null ||
    !isOpen ||
    plan.length > max_steps ||
    possibleThieves(everything(facts), facts).length !== 1
  )
    return null;
  const { thing, scene, rooms, suspects, thief, trace } = facts;
  const opening = detectiveOpening(facts);
  return {
    prompt: `${opening}\n\nReply with your actions in the order you would take them, one a line and nothing else.`,
    gold: plan.join('\n'),
    subject: `${count} suspects`,
    data: {
      kind: 'world',
      world: 'detective',
      world_version: DETECTIVE_VERSION,
      thing,
      scene,
      rooms,
      suspects: suspects.map(({ name }) => name),
      claims: Object.fromEntries(suspects.map(({ name, claim }) => [name, claim])),
      saw: suspects.map(({ saw }) => saw),
      marks: suspects.map((suspect) => suspect.marks),
      thief,
      trace,
      max_steps,
    },
  };
}

function drawCase(rng: Rng, count: number, size: number): Case {
  const rooms = several(rng, places, size);
  const names = several(rng, people, count);
  const [scene = '', ...others] = several(rng, rooms, size);
  const thief = pick(rng, names);
  const trace = pick(rng, marks);
  const truth = new Map(names.map((name) => [name, name === thief ? scene : pick(rng, others)]));
  const lie = pick(rng, others);
  const within = (room: string, but: string) =>
    names.filter((name) => name !== but && truth.get(name) === room);
  const suspects = names.map((name): Suspect => {
    const isThief = name === thief;
    const claim = isThief ? lie : (truth.get(name) ?? '');
    return { name, claim, saw: within(claim, name), marks: marksOf(rng, isThief ? trace : null) };
  });
  return { thing: pick(rng, things), scene, rooms, suspects, thief, trace };
}

/** Two marks; the trace among them where it must be, and at times where it needn't. */
function marksOf(rng: Rng, trace: string | null): string[] {
  if (trace === null) return several(rng, marks, 2).sort();
  return [
    trace,
    pick(
      rng,
      marks.filter((mark) => mark !== trace),
    ),
  ].sort();
}
