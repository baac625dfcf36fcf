import type { Message, TokenCounter, TraceText } from '@perwatt/core';
import type { RawRow } from './trace-columns.js';
import { badRow, shown } from './trace-errors.js';
import { given } from './trace-values.js';

/** One thing that was said, with its own stamp where the source has one. */
export interface Utterance extends Message {
  readonly at: bigint | null;
}

/** A conversation as a source carries it. */
export interface Conversation {
  readonly id: string | undefined;
  readonly model?: string;
  readonly kind?: string;
  /** Time of the whole; turns without a stamp of their own have it. */
  readonly at: bigint | null;
  readonly said: readonly Utterance[];
}

const roles: Readonly<Record<string, Message['role']>> = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  chatgpt: 'assistant',
  bing: 'assistant',
  bard: 'assistant',
  assistant: 'assistant',
  model: 'assistant',
  system: 'system',
  tool: 'tool',
};

/** Our word for a source's word. Throws `TRACE_INVALID` for one that isn't known. */
export function roleOf(word: unknown): Message['role'] {
  const role = typeof word === 'string' ? roles[word.toLowerCase()] : undefined;
  if (role === undefined) throw badRow(`the role ${shown(word)} is not known`);
  return role;
}

/**
 * One call for each answer, and one for a question at the end that has none: what was said since the call before, and the
 * answer. An answer that nothing was asked for, as at the head of a cut conversation, counts as said. Tokens are counted
 * over the texts joined by line ends, without a chat template; without a counter they are unknown, but an empty answer has 0.
 */
export async function chatRows(
  conversation: Conversation,
  counter: TokenCounter | undefined,
): Promise<readonly RawRow[]> {
  const rows: RawRow[] = [];
  const { id, model, kind } = conversation;
  const about = { ...given('conversation', id), ...given('model', model), ...given('kind', kind) };
  const before: string[] = [];
  for (const { text, at } of turnsOf(conversation)) {
    before.push(...text.messages.map(({ content }) => content));
    const counts = await countsOf(before, text.answer, counter);
    if (text.answer !== null) before.push(text.answer);
    const follows = rows.length === 0 ? {} : ({ follows: 'previous' } as const);
    const stamp = at === null ? null : isoStamp(at);
    rows.push({ at, stamp, ...counts, turn: rows.length, text, ...follows, ...about });
  }
  return rows;
}

async function countsOf(before: readonly string[], answer: string | null, counter: TokenCounter | undefined) {
  if (counter === undefined) return { input: null, output: answer === '' ? 0 : null };
  return {
    input: await counter.count(before.join('\n')),
    output: answer === null ? null : answer === '' ? 0 : await counter.count(answer),
  };
}

interface Turn {
  readonly text: TraceText;
  readonly at: bigint | null;
}

function turnsOf({ said, at }: Conversation): readonly Turn[] {
  const turns: Turn[] = [];
  let messages: Utterance[] = [];
  const close = (answer: Utterance | null) => {
    const asked = messages.findLast(({ role }) => role === 'user');
    turns.push({
      text: { messages: messages.map(bare), answer: answer?.content ?? null },
      at: asked?.at ?? answer?.at ?? at,
    });
    messages = [];
  };
  for (const utterance of said) {
    const isAnswer = utterance.role === 'assistant' && messages.some(({ role }) => role === 'user');
    if (isAnswer) close(utterance);
    else messages.push(utterance);
  }
  if (messages.some(({ role }) => role === 'user')) close(null);
  return turns;
}

const bare = ({ role, content }: Utterance): Message => ({ role, content });

function isoStamp(at: bigint): string {
  const second = at / 1_000_000_000n;
  const fraction = `${at % 1_000_000_000n}`.padStart(9, '0').replace(/0+$/, '');
  const text = new Date(Number(second) * 1000).toISOString().slice(0, 19).replace('T', ' ');
  return fraction === '' ? text : `${text}.${fraction}`;
}
