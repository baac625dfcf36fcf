import type { Strategy, ToolSpec } from '@perwatt/core';
import * as z from 'zod';
import { opening, prefixOf } from './attempt.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { spawnLoop } from './spawn-loop.js';

/** Parameters of a search that spawns children and joins them. */
export const SpawnJoinParams = z.strictObject({
  max_children: z.int().min(1).max(1024).default(10).describe('Most children of one turn'),
  max_turns: z.int().min(1).max(100).default(10).describe('Most turns of the parent'),
  child_tokens: z.int().positive().default(1024).describe('Longest completion of a child'),
  tool_form: z
    .enum(['hermes', 'native'])
    .default('hermes')
    .describe('How the tool is offered: in text, or as `tools` of the request'),
  child_endpoint: endpointName.default('main').describe('Endpoint of the children'),
  ...samplingFields(0.7),
});
/** Parameters that were checked, defaults filled in. */
export type SpawnJoinParams = z.infer<typeof SpawnJoinParams>;

const tool: ToolSpec = {
  name: 'spawn',
  description:
    'Starts one child for each message and waits for all. A child knows only its message and gives back what it joins with.',
  parameters: {
    type: 'object',
    properties: {
      msgs: { type: 'array', items: { type: 'string' }, description: 'One whole message for each child' },
    },
    required: ['msgs'],
  },
};

const brief = `You search for the answer. Where the search branches, call spawn with one message for each branch, each whole in itself: children see nothing else. Go on from what they join with. Finish with a line "Answer: value".`;
const childBrief = `Work on your message only. End with a line "Result: " and what your parent needs to know.`;

/** No text of a child is cut: it returns what it joins with. */
const whole = Number.MAX_SAFE_INTEGER;

/** A parent spawns children with a message each, waits for all, goes on from what they join with. */
export const spawnJoin: Strategy<SpawnJoinParams> = {
  id: 'spawn_join',
  version: 1,
  summary: 'a parent spawns children, waits for all, goes on from what they return',
  needs: ({ child_endpoint, tool_form }) => ({
    endpoints: [...new Set(['main', child_endpoint])],
    ...(tool_form === 'native' && { tools: true as const }),
  }),
  params: parameters('spawn_join', SpawnJoinParams),
  calls: ({ max_turns, max_children }) => max_turns + (max_turns - 1) * max_children,
  async *run(item, params, context) {
    return yield* spawnLoop(
      {
        task: item.prompt,
        brief,
        tool,
        tool_form: params.tool_form,
        max_turns: params.max_turns,
        max_children: params.max_children,
        child_tokens: params.child_tokens,
        clip: [whole, whole],
        child_role: 'worker',
        child_endpoint: params.child_endpoint,
        params,
        prefix_key: prefixOf(item),
        child: ({ instruction }) => ({ messages: opening(instruction, childBrief), missing: [] }),
      },
      context,
    );
  },
};
