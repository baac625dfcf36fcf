import { createHash } from 'node:crypto';
import type {
  CallRecord,
  Client,
  ClientRequest,
  EndpointFacts,
  GradingAccount,
  Message,
  Sampling,
} from '@perwatt/core';
import { turns } from '../turns.js';
import { again, PROMPT_VERSION } from './judge-prompts.js';

/** Replies by what was asked. Kept over runs, it saves asking again. */
export interface ReplyCache {
  get(key: string): string | null | Promise<string | null>;
  set(key: string, reply: string): void | Promise<void>;
}

/** A model that judges. */
export interface JudgeModel {
  /** Opened. */
  readonly client: Client;
  /** Its name as the client's endpoint knows it. */
  readonly model: string;
  /** What answers the client's calls. */
  readonly endpoint?: EndpointFacts;
  /** What tells it from others of that name, for the cache: a sha256 of weights, an address; '' for nothing. */
  readonly identity?: string;
  /** Default: greedy, at most 1,024 tokens. */
  readonly sampling?: Partial<Sampling>;
  readonly cache?: ReplyCache;
  /** Calls at a time. Default 4. */
  readonly workers?: number;
  /** Told of every call that was made; cached replies make none. */
  readonly onCall?: (record: CallRecord, request: ClientRequest, role: GradingAccount['role']) => void;
}

/** A reply that was read, or why there is none. */
export type Asked<T> =
  | { readonly status: 'read'; readonly value: T; readonly reply: string }
  | { readonly status: 'unreadable' | 'failed'; readonly reason: string };

export interface Question<T> {
  readonly messages: readonly Message[];
  readonly read: (reply: string) => T | null;
  /** What is asked for, as it stands in the second asking. */
  readonly form: string;
}

export interface Asker {
  ask<T>(question: Question<T>, signal?: AbortSignal): Promise<Asked<T>>;
  account(): Omit<GradingAccount, 'pairs' | 'order_flips'>;
}

const GREEDY: Sampling = { temperature: 0, top_p: 1, max_tokens: 1024 };

/** Asks a model, reads what it says, and keeps the account. A reply that can't be read is asked for once more, by its format. */
export function createAsker(judge: JudgeModel, role: GradingAccount['role']): Asker {
  const { client, model, identity = '', workers = 4, cache = memoryCache(), onCall } = judge;
  const sampling = { ...GREEDY, ...judge.sampling };
  const turn = turns(workers);
  const count = { calls: 0, failed_calls: 0, cached: 0, unreadable: 0 };
  const tokens: { prompt: number | null; completion: number | null } = { prompt: 0, completion: 0 };
  const underWay = new Map<string, Promise<Reply>>();

  const call = async (messages: readonly Message[], signal: AbortSignal | undefined): Promise<Reply> => {
    const request: ClientRequest = { model, input: { kind: 'chat', messages }, sampling };
    const record = await turn(() => client.call(request, signal === undefined ? {} : { signal }));
    signal?.throwIfAborted();
    count.calls += 1;
    tokens.prompt = plus(tokens.prompt, record.usage?.prompt_tokens ?? null);
    tokens.completion = plus(tokens.completion, record.n_tokens);
    onCall?.(record, request, role);
    if (record.status === 'ok') return { text: record.content };
    count.failed_calls += 1;
    return { problem: `the call failed: ${record.error_message ?? record.status}` };
  };
  const replyTo = async (messages: readonly Message[], signal: AbortSignal | undefined): Promise<Reply> => {
    const key = keyOf({ model, identity, sampling, messages });
    const known = await cache.get(key);
    if (known !== null) {
      count.cached += 1;
      return { text: known };
    }
    const shared = underWay.get(key);
    if (shared !== undefined) {
      count.cached += 1;
      return shared;
    }
    const made = call(messages, signal);
    underWay.set(key, made);
    try {
      const reply = await made;
      if ('text' in reply) await cache.set(key, reply.text);
      return reply;
    } finally {
      underWay.delete(key);
    }
  };
  return {
    async ask({ messages, read, form }, signal) {
      let asking = messages;
      for (const isLast of [false, true]) {
        const reply = await replyTo(asking, signal);
        if ('problem' in reply) return { status: 'failed', reason: reply.problem };
        const value = read(reply.text);
        if (value !== null) return { status: 'read', value, reply: reply.text };
        if (!isLast) asking = again(messages, reply.text, form);
      }
      count.unreadable += 1;
      return { status: 'unreadable', reason: 'the reply cannot be read' };
    },
    account: () => ({
      role,
      model,
      ...(judge.endpoint !== undefined && { endpoint: judge.endpoint }),
      ...count,
      prompt_tokens: tokens.prompt,
      completion_tokens: tokens.completion,
    }),
  };
}

type Reply = { readonly text: string } | { readonly problem: string };

const plus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

const keyOf = (asked: object): string =>
  createHash('sha256')
    .update(JSON.stringify({ version: PROMPT_VERSION, ...asked }))
    .digest('hex');

function memoryCache(): ReplyCache {
  const replies = new Map<string, string>();
  return { get: (key) => replies.get(key) ?? null, set: (key, reply) => void replies.set(key, reply) };
}
