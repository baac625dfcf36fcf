import type { CallRecord, Client, ClientRequest, Clock, EndedLoadCall } from '@perwatt/core';
import { createLoadEngine } from './load-engine.js';
import { decoded } from './load-rows.fixture.js';
import { openAiClient } from './openai-client.js';
import { type Api, requestBody } from './openai-request.js';

const stamps = [
  'dispatch_ns',
  'socket_ns',
  'sent_ns',
  'headers_ns',
  'first_event_ns',
  'first_any_ns',
  'first_content_ns',
  'last_content_ns',
  'done_ns',
  'end_ns',
] as const;

interface LoadClientOptions {
  readonly url: string;
  readonly api: Api;
  readonly clock: Clock;
}

/**
 * The load engine as a client, for what both have in common: each call is a row whose text was asked for. Its columns tell
 * no reasoning text and no tool calls.
 */
export function loadClient({ url, api, clock }: LoadClientOptions): Client {
  const facts = openAiClient({ url, api, clock });
  const waiting = new Map<number, (call: EndedLoadCall) => void>();
  const rows = new Map<number, Record<string, unknown>>();
  const engineOf = (streamed: boolean) =>
    createLoadEngine({
      url,
      api,
      clock,
      streamed,
      connections: 16,
      onEnded: (call) => waiting.get(call.row)?.(call),
    });
  const engines = { streamed: engineOf(true), whole: engineOf(false) };
  let next = 0;
  return {
    open: () => facts.open(),
    async call(request: ClientRequest): Promise<CallRecord> {
      const row = next++;
      const engine = request.stream === false ? engines.whole : engines.streamed;
      const ended = new Promise<EndedLoadCall>((resolve) => void waiting.set(row, resolve));
      engine.send({ row, due_ns: null, body: requestBody(request, api), keep_text: true });
      const { text } = await ended;
      for (const own of decoded(engine.drain())) rows.set(Number(own['row']), own);
      return recordOf(rows.get(row) ?? {}, text);
    },
    async close() {
      await Promise.all([engines.streamed.close(), engines.whole.close(), facts.close()]);
    },
  };
}

function recordOf(row: Record<string, unknown>, text: string | null): CallRecord {
  const { prompt_tokens, completion_tokens, token_source, icl_ns, ...rest } = row;
  const usage = token_source === 'server_usage' ? { prompt_tokens, completion_tokens } : null;
  return {
    ...rest,
    content: text ?? '',
    reasoning: '',
    tool_calls: [],
    usage,
    n_tokens: completion_tokens,
    token_source,
    icl_ns: icl_ns ?? [],
    stamps: Object.fromEntries(stamps.map((name) => [name, row[name]])),
  } as unknown as CallRecord;
}
