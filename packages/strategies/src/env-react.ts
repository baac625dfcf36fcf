import type { CallResult, Message, Outcome, Strategy, WorldEpisode, WorldStep } from '@perwatt/core';
import * as z from 'zod';
import { askChat, assistant, failureOf, hasText, prefixOf, user } from './attempt.js';
import { parameters, samplingFields } from './params.js';

/** Parameters of an actor in a world. */
export const EnvReactParams = z.strictObject({
  skills: z
    .enum(['off', 'on'])
    .default('off')
    .describe('Whether the actor is told how tasks of its kind are done, which no deployment has'),
  history: z
    .int()
    .min(1)
    .max(1000)
    .default(8)
    .describe('Latest pairs of action and observation that the actor is shown'),
  max_steps: z.int().min(1).max(1000).optional().describe('Most actions; default: as the world says'),
  admissible: z.boolean().default(true).describe('Whether the actions that are possible now are listed'),
  ...samplingFields(0.4),
});
/** Parameters that were checked, defaults filled in. */
export type EnvReactParams = z.infer<typeof EnvReactParams>;

const brief = `You act in a world by text commands, one at a time. Think in a few words, then write the next command alone on the last line, as "Action: command".`;

interface Walk {
  readonly episode: WorldEpisode;
  readonly turns: { readonly said: string; readonly observation: string }[];
  readonly actions: string[];
  invalid: number;
  last: CallResult | null;
  step: WorldStep | null;
}

/**
 * Observes, thinks, acts, until the episode ends. The answer is the list of actions, one a line, which the world's grader takes
 * again. An action that is not possible costs a step. A call that fails ends the episode with what was done by then.
 */
export const envReact: Strategy<EnvReactParams> = {
  id: 'env_react',
  version: 1,
  summary: 'acts in a world step by step: observe, think, act',
  needs: () => ({ endpoints: ['main'], environment: true }),
  params: parameters('env_react', EnvReactParams),
  calls: ({ max_steps = 50 }) => max_steps,
  async *run(item, params, context) {
    if (context.openWorld === undefined)
      throw new RangeError('the strategy needs a world and was given none');
    const episode = context.openWorld();
    if (params.skills === 'on' && episode.skills === undefined)
      return { status: 'failed', reason: 'the world has no skills written down', candidates: [] };
    const walk: Walk = { episode, turns: [], actions: [], invalid: 0, last: null, step: null };
    const steps = Math.min(params.max_steps ?? episode.max_steps, episode.max_steps);
    for (let step = 0; step < steps && walk.step?.done !== true; step++) {
      const [said] = yield [
        askChat(
          {
            id: `step-${step}`,
            parents: walk.last === null ? [] : [walk.last.id],
            role: 'solver',
            messages: messagesOf(walk, params),
            round: step,
            prefix_key: prefixOf(item),
          },
          { params, context },
        ),
      ];
      if (said === undefined || said.finish === 'error') return ended(walk, said);
      act(walk, said);
    }
    return ended(walk, walk.last ?? undefined);
  },
};

function messagesOf({ episode, turns }: Walk, params: EnvReactParams): Message[] {
  const skills =
    params.skills === 'on' && episode.skills !== undefined
      ? [`How such tasks are done:\n${episode.skills}`]
      : [];
  const system = [...(params.system === undefined ? [] : [params.system]), brief, ...skills].join('\n\n');
  const shown = turns.slice(-params.history);
  const skipped = turns.length - shown.length;
  const start =
    skipped === 0 ? episode.opening : `${episode.opening}\n\n(${skipped} earlier steps are not shown)`;
  const told = [start, ...shown.map((t) => t.observation)];
  const possible = params.admissible ? episode.admissible() : null;
  const now = told.length - 1;
  return [
    { role: 'system', content: system },
    ...told.flatMap((text, i) => [
      user(i === now && possible !== null ? `${text}\n\nPossible now:\n${possible.join('\n')}` : text),
      ...(i < now ? [assistant(shown[i]?.said ?? '')] : []),
    ]),
  ];
}

function act(walk: Walk, said: CallResult): void {
  const action = actionIn(said.text);
  walk.last = said;
  walk.step = walk.episode.act(action);
  walk.actions.push(action);
  walk.invalid += walk.step.valid ? 0 : 1;
  walk.turns.push({ said: hasText(said) ? said.text : '(nothing)', observation: walk.step.observation });
}

/** The command in an answer: after the last "Action:", else the last line that isn't blank; one line. */
export function actionIn(text: string): string {
  const named = [...text.matchAll(/^\W*action\W*?:\s*(.+)$/gim)].at(-1)?.[1];
  const line = named ?? text.split('\n').findLast((each) => each.trim() !== '') ?? '';
  return line.trim();
}

function ended({ episode, actions, invalid }: Walk, last: CallResult | undefined): Outcome {
  if (actions.length === 0)
    return {
      status: 'failed',
      reason: `the first call failed: ${last === undefined ? 'no result' : failureOf(last)}`,
      candidates: [],
    };
  const how = last?.finish === 'error' ? `, cut short by a failed call (${failureOf(last)})` : '';
  return {
    status: 'answered',
    answer: actions.join('\n'),
    call_id: null,
    candidates: [],
    decisions: [
      `${episode.won() ? 'solved' : 'not solved'} in ${actions.length} actions, ${invalid} not possible, reward ${Number(episode.reward().toFixed(4))}${how}`,
    ],
  };
}
