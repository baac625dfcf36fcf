import type { Item, Strategy, ToolSpec } from '@perwatt/core';
import * as z from 'zod';
import { opening, prefixOf } from './attempt.js';
import type { Objective } from './objectives.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { spawnLoop } from './spawn-loop.js';

/** Parameters of delegation to clones. */
export const DelegateParams = z.strictObject({
  max_clones: z.int().min(1).max(1024).default(30).describe('Most clones of one turn'),
  max_turns: z.int().min(1).max(100).default(10).describe('Most turns of the root'),
  clone_tokens: z.int().positive().default(1024).describe('Longest completion of a clone'),
  clip_one: z.int().positive().default(256).describe('Characters kept of one clone’s result'),
  clip_all: z.int().positive().default(512).describe('Characters kept of all results of one turn'),
  tool_form: z
    .enum(['hermes', 'native'])
    .default('hermes')
    .describe('How the tool is offered: in text, or as `tools` of the request'),
  reading: z
    .enum(['root', 'keys'])
    .default('root')
    .describe(
      '`root` reads everything; `keys`: it sees titles only, and passages go to the clones it names them to',
    ),
  clone_endpoint: endpointName.default('main').describe('Endpoint of the clones'),
  ...samplingFields(0.7),
});
/** Parameters that were checked, defaults filled in. */
export type DelegateParams = z.infer<typeof DelegateParams>;

const tool: ToolSpec = {
  name: 'spawn_clone',
  description:
    'Hands out independent pieces of work. Each objective goes to a clone that knows nothing else; all run at once.',
  parameters: {
    type: 'object',
    properties: {
      objectives: {
        type: 'array',
        items: { type: 'string' },
        description: 'One whole instruction for each clone',
      },
      shared_context: {
        type: 'array',
        items: { type: 'string' },
        description: 'Keys of passages that the clones are to read',
      },
    },
    required: ['objectives'],
  },
};

const brief = `You coordinate. Call spawn_clone as often as it helps to hand out independent pieces of the task, combine what comes back, and finish with a line "Answer: value".`;
const keysBrief = `You cannot see the passages yourself: pass the keys of those that a clone needs in shared_context.`;
const cloneBrief = `You help with one piece of a larger task. Be brief. Finish with a line "Answer: value"; if you can't, say why in a few words.`;

/**
 * A root hands pieces of its task to clones of itself and combines their answers. Clones see only their objective and the passages
 * whose keys were passed, have no tools and no clones of their own. Without a tool call the result is that of `single` with the
 * root's system message.
 */
export const delegate: Strategy<DelegateParams> = {
  id: 'delegate',
  version: 1,
  summary: 'a root hands pieces of the task to clones and combines their answers',
  needs: ({ clone_endpoint, tool_form }) => ({
    endpoints: [...new Set(['main', clone_endpoint])],
    ...(tool_form === 'native' && { tools: true as const }),
  }),
  params: parameters('delegate', DelegateParams),
  calls: ({ max_turns, max_clones }) => max_turns + (max_turns - 1) * max_clones,
  async *run(item, params, context) {
    const hidden = params.reading === 'keys' ? item.material : undefined;
    if (params.reading === 'keys' && hidden === undefined)
      return { status: 'failed', reason: 'the item has no passages to hand out by key', candidates: [] };
    return yield* spawnLoop(
      {
        task: hidden === undefined ? item.prompt : keyedTask(hidden),
        brief: hidden === undefined ? brief : `${brief} ${keysBrief}`,
        tool,
        tool_form: params.tool_form,
        max_turns: params.max_turns,
        max_children: params.max_clones,
        child_tokens: params.clone_tokens,
        clip: [params.clip_one, params.clip_all],
        child_role: 'clone',
        child_endpoint: params.clone_endpoint,
        params,
        prefix_key: prefixOf(item),
        child: (objective) => cloneMessages(objective, item),
      },
      context,
    );
  },
};

const keyedTask = ({ task, passages }: NonNullable<Item['material']>): string =>
  `${task}\n\nKeys of the passages:\n${passages.map(({ key }) => `- ${key}`).join('\n')}`;

function cloneMessages({ instruction, context }: Objective, { material }: Item) {
  const passages = material?.passages ?? [];
  const found = context.flatMap((key) => passages.filter((p) => p.key === key));
  const missing = context.filter((key) => !passages.some((p) => p.key === key));
  const blocks = found.map(({ key, text }) => `[${key}]\n${text}`).join('\n\n');
  const content = blocks === '' ? instruction : `${instruction}\n\nPassages:\n\n${blocks}`;
  return { messages: opening(content, cloneBrief), missing };
}
