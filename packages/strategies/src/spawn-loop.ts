import {
  type CallRequest,
  type CallResult,
  type Message,
  type Outcome,
  type Role,
  type StrategyContext,
  type ToolSpec,
  toolResponseText,
  toolsAsText,
} from '@perwatt/core';
import { type AskOptions, askChat, candidateOf, failureOf, hasText, opening, user } from './attempt.js';
import { afterMarker, clipLeft } from './clip.js';
import { type ReadToolCall, toolCallsOf } from './hermes.js';
import { type Objective, readObjectives } from './objectives.js';
import type { SamplingParams } from './params.js';
import { outcomeOf } from './votes.js';

/** What a root and those it calls for share, whatever the method's words. */
export interface SpawnLoop {
  /** The root's task. */
  readonly task: string;
  /** What the root is told of its part, put before its system message. */
  readonly brief: string;
  readonly tool: ToolSpec;
  readonly tool_form: 'hermes' | 'native';
  readonly max_turns: number;
  readonly max_children: number;
  readonly child_tokens: number;
  /** Most characters of one child's result and of all of one turn. */
  readonly clip: readonly [one: number, all: number];
  readonly child_role: Role;
  readonly child_endpoint: string;
  readonly params: SamplingParams;
  readonly prefix_key: string;
  /** The whole prompt of a child, and the keys that could not be found. */
  child(objective: Objective): { readonly messages: readonly Message[]; readonly missing: readonly string[] };
}

interface Root {
  readonly messages: Message[];
  readonly decisions: string[];
  /** Calls that the root's next turn waits for. */
  parents: string[];
  spawned: number;
  repaired: number;
}

type Batches<T> = AsyncGenerator<readonly CallRequest[], T, readonly CallResult[]>;

/**
 * A root that hands out pieces of its task through a tool until it answers without calling it. Children of one turn run in parallel,
 * each with a fresh context; the root gets one line for each, in the order of the objectives, clipped so that the right side stays.
 * A child that fails, a call that can't be read and a tool that there isn't are told to the root and never end the query.
 */
export async function* spawnLoop(loop: SpawnLoop, context: StrategyContext): Batches<Outcome> {
  const root = startRoot(loop);
  const options = { params: loop.params, context };
  for (let turn = 0; turn < loop.max_turns; turn++) {
    const [answer] = yield [rootCall(root, turn, { loop, options })];
    const calls = callsIn(answer);
    if (answer === undefined || calls.length === 0) return rootOutcome(root, answer, context);
    if (turn === loop.max_turns - 1) break;
    const replies = yield* runTools(loop, { root, calls, turn, parent: answer.id }, options);
    remember(root, { answer, calls, replies, form: loop.tool_form });
    if (root.parents.length === 0) root.parents = [answer.id];
  }
  return { status: 'abstained', reason: `no answer within ${loop.max_turns} turns`, candidates: [] };
}

const callsIn = (answer: CallResult | undefined): ReadToolCall[] =>
  answer === undefined || answer.finish === 'error' ? [] : toolCallsOf(answer);

function rootCall(
  { messages, parents }: Root,
  turn: number,
  { loop, options }: { readonly loop: SpawnLoop; readonly options: AskOptions },
): CallRequest {
  const ask = {
    id: `root-${turn}`,
    parents,
    role: 'root' as const,
    messages: [...messages],
    round: 2 * turn,
    prefix_key: loop.prefix_key,
  };
  return askChat(loop.tool_form === 'native' ? { ...ask, tools: [loop.tool] } : ask, options);
}

function startRoot({ task, brief, tool, tool_form, params }: SpawnLoop): Root {
  const told = tool_form === 'hermes' ? [brief, toolsAsText([tool])] : [brief];
  const system = [...(params.system === undefined ? [] : [params.system]), ...told].join('\n\n');
  return { messages: opening(task, system), decisions: [], parents: [], spawned: 0, repaired: 0 };
}

function rootOutcome(root: Root, answer: CallResult | undefined, context: StrategyContext): Outcome {
  const candidates = answer === undefined ? [] : [candidateOf(answer, context.answers)];
  const handed = `${root.spawned} pieces handed out, ${root.repaired} calls repaired`;
  return outcomeOf(answer, candidates, [handed, ...root.decisions]);
}

interface Turn {
  readonly root: Root;
  readonly calls: readonly ReadToolCall[];
  readonly turn: number;
  readonly parent: string;
}

/** One reply for each tool call. All children of the turn are one batch. */
async function* runTools(
  loop: SpawnLoop,
  { root, calls, turn, parent }: Turn,
  options: AskOptions,
): Batches<string[]> {
  const work = calls.map((call) => readCall(call, loop));
  const jobs = work.flatMap((w) => w.accepted);
  const allowed = new Set(jobs.slice(0, loop.max_children));
  const batch = [...allowed].map((objective, i) => childCall(loop, { objective, i, turn, parent }, options));
  root.repaired += calls.filter((call) => call.repaired).length;
  root.spawned += batch.length;
  const results: readonly CallResult[] = batch.length === 0 ? [] : yield batch.map((b) => b.request);
  root.parents = results.map((r) => r.id);
  const done = new Map(
    [...allowed].map((objective, i) => [
      objective,
      { at: i, result: results[i], missing: batch[i]?.missing ?? [] },
    ]),
  );
  return work.map(({ accepted, notes }) => {
    const lines = accepted.flatMap((objective) => {
      const made = done.get(objective);
      if (made === undefined)
        return [`rejected: over the limit of ${loop.max_children} clones (${brief(objective)})`];
      const missing = made.missing.map((key) => `missing key: ${clipLeft(key, 60)}`);
      return [
        resultLine(`turn${turn}_clone${made.at}`, { ...made, objective, clip: loop.clip[0] }),
        ...missing,
      ];
    });
    return clipAll([...lines, ...notes], loop.clip[1]);
  });
}

function readCall(call: ReadToolCall, { tool, max_children }: SpawnLoop) {
  if (call.args === null)
    return { accepted: [], notes: [`error: the call of "${call.name}" is no JSON that can be read`] };
  if (call.name !== tool.name)
    return { accepted: [], notes: [`error: there is no tool "${call.name}", only "${tool.name}"`] };
  const { accepted, rejected } = readObjectives(call.args, max_children);
  return { accepted, notes: rejected.map((reason) => `rejected: ${reason}`) };
}

interface ChildPlace {
  readonly objective: Objective;
  readonly i: number;
  readonly turn: number;
  readonly parent: string;
}

function childCall(
  loop: SpawnLoop,
  { objective, i, turn, parent }: ChildPlace,
  { params, context }: AskOptions,
) {
  const { messages, missing } = loop.child(objective);
  const { system: _, ...sampling } = params;
  const request = askChat(
    {
      id: `clone-${turn}-${i}`,
      parents: [parent],
      role: loop.child_role,
      endpoint: loop.child_endpoint,
      messages,
      round: 2 * turn + 1,
      branch: i,
    },
    {
      params: {
        ...sampling,
        max_tokens: Math.min(loop.child_tokens, params.max_tokens ?? loop.child_tokens),
      },
      context,
    },
  );
  return { request, missing };
}

const brief = ({ instruction }: Objective): string =>
  instruction.length > 40 ? `${instruction.slice(0, 40).trim()} …` : instruction;

interface Made {
  readonly objective: Objective;
  readonly result: CallResult | undefined;
  readonly clip: number;
}

function resultLine(label: string, { objective, result, clip }: Made): string {
  if (result === undefined || !hasText(result))
    return `${label}: failed, ${failureIn(result)} (${brief(objective)})`;
  return `${label}: ${clipLeft(afterMarker(result.text).replace(/\s+/g, ' '), clip)}`;
}

function failureIn(result: CallResult | undefined): string {
  if (result === undefined) return 'no result';
  return result.finish === 'error' ? failureOf(result) : 'no text';
}

/** Lines joined and cut to `most` characters, the right side kept of the whole. */
const clipAll = (lines: readonly string[], most: number): string => clipLeft(lines.join('\n'), most);

interface Exchange {
  readonly answer: CallResult;
  readonly calls: readonly ReadToolCall[];
  readonly replies: readonly string[];
  readonly form: SpawnLoop['tool_form'];
}

function remember(root: Root, { answer, calls, replies, form }: Exchange): void {
  if (form === 'native' && answer.tool_calls !== undefined && answer.tool_calls.length > 0) {
    const tool_calls = answer.tool_calls.map((call, i) => ({
      id: calls[i]?.id ?? `call-${i}`,
      name: call.name,
      arguments: call.arguments,
    }));
    root.messages.push({ role: 'assistant', content: answer.text, tool_calls });
    for (const [i, content] of replies.entries())
      root.messages.push({ role: 'tool', content, tool_call_id: calls[i]?.id ?? `call-${i}` });
    return;
  }
  root.messages.push({ role: 'assistant', content: answer.text });
  root.messages.push(user(replies.map(toolResponseText).join('\n')));
}
