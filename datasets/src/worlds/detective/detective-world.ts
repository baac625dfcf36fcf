import type { World } from '@perwatt/core';
import { episodeOf, foldAction, type Rules, type Turn } from '../episode.js';
import { type DataReader, MAX_STEPS, worldData } from '../world-data.js';
import { type Case, type Findings, nothing, possibleThieves, type Suspect } from './case.js';

export const DETECTIVE_VERSION = 1;

const skills = [
  'Search the room of the theft first: the trace rules out all who do not have it.',
  'Ask everyone where they were, then whom they saw, beginning with rooms that several say they were in.',
  'Someone who says they were in a room, but was not seen by another who was there, is the thief, or the other is.',
  'Take each suspect in turn as the thief, and check that all others can then have told the truth; accuse once one alone is left.',
]
  .map((line) => `- ${line}`)
  .join('\n');

/** What is known at first, and what can be done. */
export const detectiveOpening = ({ thing, scene, rooms, suspects }: Case): string =>
  `Last night at nine the ${thing} was taken from the ${scene}. The house has these rooms: ${rooms.join(', ')}. These people were in it: ${suspects.map(({ name }) => name).join(', ')}. One of them is the thief, who was alone in the ${scene} at nine. The thief may lie; all others tell the truth, and each says whom they saw in their room at nine. The thief left a trace.

You find out who it was, by one of these at a time:
- ask NAME where: where they were at nine
- ask NAME who: whom they saw there
- look at NAME: what is to be seen of them
- search ROOM: what was left behind there
- accuse NAME: ends the case`;

interface State {
  readonly found: Findings;
  readonly accused: string | null;
}

/** Detective cases, solved by questions: active reasoning whose answers follow from the facts alone. */
export const detectiveWorld: World = {
  id: 'detective',
  version: DETECTIVE_VERSION,
  open(item) {
    const { facts, max_steps } = caseOf(worldData(item, 'detective', DETECTIVE_VERSION));
    const state: State = { found: nothing, accused: null };
    return episodeOf(rulesOf(facts), { state, opening: detectiveOpening(facts), max_steps, skills });
  },
  solve(item) {
    return honestQuestions(caseOf(worldData(item, 'detective', DETECTIVE_VERSION)).facts);
  },
};

/**
 * Actions of a detective who knows only the answers: the scene first, then each suspect in turn, until one alone could be the
 * thief. Null when all answers leave more than one.
 */
export function honestQuestions(facts: Case): string[] | null {
  const rounds = ['ask * where', 'ask * who', 'look at *'].flatMap((form) =>
    facts.suspects.map(({ name }) => form.replace('*', name)),
  );
  const { take } = rulesOf(facts);
  const actions: string[] = [];
  let state: State = { found: nothing, accused: null };
  for (const action of [`search ${facts.scene}`, ...rounds]) {
    const left = possibleThieves(state.found, facts);
    if (left.length === 1) return [...actions, `accuse ${left[0]}`];
    state = take(state, action, action).state;
    actions.push(action);
  }
  const [thief, ...others] = possibleThieves(state.found, facts);
  return thief === undefined || others.length > 0 ? null : [...actions, `accuse ${thief}`];
}

type Verb = 'where' | 'who' | 'look' | 'search' | 'accuse';

interface Command {
  readonly verb: Verb;
  readonly object: string;
}

function commandsOf({ suspects, rooms }: Case): Map<string, Command> {
  const people = suspects.flatMap(({ name }): [string, Command][] => [
    [`ask ${name} where`, { verb: 'where', object: name }],
    [`ask ${name} who`, { verb: 'who', object: name }],
    [`look at ${name}`, { verb: 'look', object: name }],
    [`accuse ${name}`, { verb: 'accuse', object: name }],
  ]);
  return new Map([
    ...people,
    ...rooms.map((object): [string, Command] => [`search ${object}`, { verb: 'search', object }]),
  ]);
}

function rulesOf(facts: Case): Rules<State> {
  const commands = commandsOf(facts);
  const folded = new Map([...commands].map(([text, command]) => [foldAction(text), command]));
  return {
    take(state, action): Turn<State> {
      const command = folded.get(
        foldAction(action)
          .replace(/^search the /, 'search ')
          .replace(/[?!]$/, ''),
      );
      if (command === undefined) return { state, observation: 'That is not possible here.', valid: false };
      return { ...outcome(command, state, facts), valid: true };
    },
    admissible: () => [...commands.keys()],
    won: ({ accused }) => accused === facts.thief,
    lost: ({ accused }) => accused !== null && accused !== facts.thief,
  };
}

function outcome({ verb, object }: Command, state: State, facts: Case): Omit<Turn<State>, 'valid'> {
  const { found } = state;
  const suspect = facts.suspects.find(({ name }) => name === object);
  const learned = (more: Partial<Findings>) => ({ ...state, found: { ...found, ...more } });
  const and = (names: ReadonlySet<string>) => new Set([...names, object]);
  switch (verb) {
    case 'where':
      return {
        state: learned({ claims: and(found.claims) }),
        observation: `${object}: I was in the ${suspect?.claim}.`,
      };
    case 'who':
      return { state: learned({ sightings: and(found.sightings) }), observation: sawWords(suspect) };
    case 'look':
      return {
        state: learned({ marks: and(found.marks) }),
        observation: `${object} has ${suspect?.marks.join(' and ')}.`,
      };
    case 'search':
      return object === facts.scene
        ? {
            state: learned({ trace: true }),
            observation: `In the ${object} there is a trace: the thief has ${facts.trace}.`,
          }
        : { state, observation: `There is nothing of note in the ${object}.` };
    case 'accuse':
      return {
        state: { ...state, accused: object },
        observation: `You accuse ${object}. The case is closed.`,
      };
  }
}

const sawWords = (suspect: Suspect | undefined): string =>
  suspect === undefined || suspect.saw.length === 0
    ? `${suspect?.name}: I saw nobody.`
    : `${suspect.name}: I saw ${suspect.saw.join(' and ')}.`;

const MAX_SUSPECTS = 20;

function caseOf(data: DataReader): { readonly facts: Case; readonly max_steps: number } {
  const names = data.texts('suspects');
  const [claims, saw, marks] = [data.map('claims'), data.lists('saw'), data.lists('marks')];
  if (names.length < 2 || names.length > MAX_SUSPECTS)
    throw data.fail(`it has ${names.length} suspects, not 2 to ${MAX_SUSPECTS}`);
  if (new Set(names.map(foldAction)).size < names.length)
    throw data.fail('two of its suspects have one name');
  if (saw.length !== names.length || marks.length !== names.length)
    throw data.fail(`"saw" and "marks" must have ${names.length} entries, one for each suspect`);
  const [scene, thief, rooms] = [data.text('scene'), data.text('thief'), data.texts('rooms')];
  if (!names.includes(thief)) throw data.fail(`its thief "${thief}" is no suspect`);
  const astray = [scene, ...names.map((name) => claims[name] ?? '')].find((room) => !rooms.includes(room));
  if (astray !== undefined) throw data.fail(`it has no room "${astray}"`);
  const suspects = names.map((name, i) => ({
    name,
    claim: claims[name] ?? '',
    saw: saw[i] ?? [],
    marks: marks[i] ?? [],
  }));
  return {
    facts: { thing: data.text('thing'), scene, rooms, suspects, thief, trace: data.text('trace') },
    max_steps: data.whole('max_steps', { min: 1, max: MAX_STEPS }),
  };
}
