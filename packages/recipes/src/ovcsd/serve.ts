import { seedFrom } from '@perwatt/core';
import { createRandom } from '../numeric/random.js';
import type { PolicyAnswer, RecipeItem } from '../recipe.js';
import { drawTask, type HouseTask, LOCATIONS, taskTypes } from './house.js';
import type { HouseTrainer } from './house-trainer.js';
import { playTask } from './student.js';

/** Tasks as text; the policy itself never reads more of it than an episode shows. */
export function taskItems(seed: number, count: number): readonly RecipeItem[] {
  return Array.from({ length: count }, (_, i) => {
    const task = drawTask(createRandom(seedFrom(seed, 'items', i), 'ovcsd'), i % taskTypes.length);
    return { id: `house-${i + 1}`, prompt: promptOf(task), target: 'done' };
  });
}

const placeOf = (task: HouseTask, object: 0 | 1) =>
  `${task.objects[object]}${task.closed[object] ? ' (closed)' : ''}`;

const promptOf = (task: HouseTask): string =>
  [
    `House task: ${taskTypes[task.type]}.`,
    `Objects at ${placeOf(task, 0)} and ${placeOf(task, 1)}; appliance at ${task.appliance}; destination ${task.destination}.`,
    'Say "done" or "failed".',
  ].join('\n');

const pattern =
  /House task: (\w+)\.\nObjects at (\d)( \(closed\))? and (\d)( \(closed\))?; appliance at (\d); destination (\d)\./;

/** The task of a prompt; null where it is none. */
export function taskOf(prompt: string): HouseTask | null {
  const [, name = '', ...parts] = prompt.match(pattern) ?? [];
  const type = (taskTypes as readonly string[]).indexOf(name);
  const [first, second, appliance, destination] = [0, 2, 4, 5].map((i) => Number(parts[i] ?? Number.NaN));
  const places = [first, second, appliance, destination];
  if (type < 0 || places.some((place) => place === undefined || !(place < LOCATIONS))) return null;
  return {
    type,
    objects: [first ?? 0, second ?? 0],
    closed: [parts[1] !== undefined, parts[3] !== undefined],
    appliance: appliance ?? 0,
    destination: destination ?? 0,
  };
}

/** Lets the policy do a prompt's task. */
export function answerTask({ policy }: HouseTrainer, prompt: string, seed: number): PolicyAnswer | null {
  const task = taskOf(prompt);
  if (task === null) return null;
  const done = playTask(task, { policy, random: createRandom(seed, 'ovcsd'), skill: 'off' });
  const text = done.won ? 'done' : 'failed';
  return {
    text,
    answer: text,
    prompt_tokens: 1,
    completion_tokens: done.actions.length,
  };
}
