import { readSync } from 'node:fs';
import type { HistorySource, Message } from '@perwatt/core';
import type { TurnArrays, TurnLinks, TurnTexts } from './turn-arrays.js';

/**
 * Where the answers in a call's history are from. `none`: it has no history. `mixed`: the server's as far as they were known,
 * else the trace's. `incomplete`: an answer that nobody knew was left out.
 */
export const historyStates = ['none', 'trace', 'server', 'mixed', 'incomplete'] as const;
/** One of `historyStates`. */
export type HistoryState = (typeof historyStates)[number];

/** What a call is asked. */
export interface TurnPrompt {
  /** Messages of a chat as JSON text. */
  readonly messages: string;
  readonly history: HistoryState;
}

export interface TurnBodies {
  prompt(index: number): TurnPrompt;
  /** Keeps an answer for the turns that follow; null where the call failed. */
  answered(index: number, text: string | null): void;
  /** Whether the answer of a call is needed. */
  needs(index: number): boolean;
}

/** Puts the prompts of a load's calls together from the texts of its trace and, where wanted, the answers of the server. */
export function turnBodies(
  turns: TurnArrays & { readonly texts: TurnTexts },
  links: TurnLinks,
  history: HistorySource,
): TurnBodies {
  const { slot, parent, texts } = turns;
  const part = partsOf(texts);
  const live = history === 'server' && !texts.whole;
  const kept = createAnswers(links, slot);
  const hasChild = new Uint8Array(live ? slot.length : 0);
  if (live) for (const from of links.parent) if (from >= 0) hasChild[from] = 1;

  const answerOf = (place: number) => {
    const own = live ? kept.get(place) : undefined;
    if (own !== undefined) return { text: JSON.stringify(own), from: 'server' } as const;
    const text = part(2 * place + 1);
    return text === '' ? null : ({ text, from: 'trace' } as const);
  };
  const historyOf = (place: number) => {
    const pieces: string[] = [];
    const from = { server: 0, trace: 0, nobody: 0 };
    const seen = new Set([place]);
    for (let at = parent[place] ?? -1; at >= 0 && !seen.has(at); at = parent[at] ?? -1) {
      seen.add(at);
      const answer = answerOf(at);
      from[answer?.from ?? 'nobody'] += 1;
      if (answer !== null) pieces.push(`{"role":"assistant","content":${answer.text}}`);
      pieces.push(part(2 * at));
    }
    return { pieces: pieces.reverse(), from };
  };
  return {
    prompt(index) {
      const place = slot[index] ?? 0;
      const own = part(2 * place);
      if (texts.whole) return { messages: `[${own}]`, history: 'none' };
      const { pieces, from } = historyOf(place);
      const messages = `[${[...pieces, own].filter((piece) => piece !== '').join(',')}]`;
      kept.taken(index);
      return { messages, history: stateOf(from) };
    },
    answered(index, text) {
      if (live && text !== null) kept.set(index, text);
    },
    needs: (index) => hasChild[index] === 1,
  };
}

function stateOf(from: {
  readonly server: number;
  readonly trace: number;
  readonly nobody: number;
}): HistoryState {
  if (from.nobody > 0) return 'incomplete';
  if (from.server > 0) return from.trace > 0 ? 'mixed' : 'server';
  return from.trace > 0 ? 'trace' : 'none';
}

/** Parts of the file, each read when it is asked for: what is read again comes from the memory of the system. */
function partsOf({ fd, offsets }: TurnTexts): (part: number) => string {
  let room = Buffer.alloc(1 << 16);
  return (part) => {
    const from = offsets[part] ?? 0;
    const length = (offsets[part + 1] ?? from) - from;
    if (length === 0) return '';
    if (room.length < length) room = Buffer.alloc(2 * length);
    let read = 0;
    while (read < length) {
      const bytes = readSync(fd, room, read, length - read, from + read);
      if (bytes === 0) throw new RangeError(`the texts of the trace end before part ${part}`);
      read += bytes;
    }
    return room.toString('utf8', 0, length);
  };
}

/** Answers of conversations that still have turns to come, by place. */
function createAnswers({ conversation }: TurnLinks, slot: Uint32Array) {
  const open = new Map<number, number>();
  for (const id of conversation) open.set(id, (open.get(id) ?? 0) + 1);
  const byConversation = new Map<number, number[]>();
  const answers = new Map<number, string>();
  return {
    get: (place: number) => answers.get(place),
    set(index: number, text: string) {
      const id = conversation[index] ?? 0;
      if ((open.get(id) ?? 0) === 0) return;
      const place = slot[index] ?? 0;
      answers.set(place, text);
      byConversation.set(id, [...(byConversation.get(id) ?? []), place]);
    },
    /** One turn less to come; with the last the answers of its conversation go. */
    taken(index: number) {
      const id = conversation[index] ?? 0;
      const left = (open.get(id) ?? 0) - 1;
      open.set(id, left);
      if (left > 0) return;
      open.delete(id);
      for (const place of byConversation.get(id) ?? []) answers.delete(place);
      byConversation.delete(id);
    },
  };
}

/** The texts of messages one behind the other, for servers that are asked to go on with a text. */
export const plainText = (messages: string): string =>
  (JSON.parse(messages) as Message[]).map(({ content }) => content).join('\n');
