import type { CallOptions, CallRecord, CallStamps, Client, ClientRequest, Sampling } from '@perwatt/core';
import { describe, expect, onTestFinished, test } from 'vitest';

/** A client to hold to the contract, and what to ask it. */
export interface ClientUnderContract {
  readonly client: Client;
  readonly model: string;
  /** Called when the test is over, after the client was closed. */
  readonly dispose?: () => Promise<void>;
}

/** What the suite must know of the client under it. */
export interface ClientContractOptions {
  /** A prompt whose greedy answer is longer than 20 tokens, or than 3 with `max_tokens`. */
  readonly prompt?: string;
  /** Two further prompts that it answers. */
  readonly others?: readonly [string, string];
  /** Tokens that an answer may take; 24 unless told. */
  readonly max_tokens?: number;
  /** True for a client whose answers come in one piece, or not at all where they take too many tokens. */
  readonly whole?: boolean;
  /** Asks for what must fail, if there is such a thing. */
  readonly failing?: Partial<ClientRequest>;
  /** False where parallel decoding may round otherwise than decoding alone; then parallel texts are not compared. */
  readonly batchInvariant?: boolean;
  /** False for a client that neither tells deltas nor takes a signal for one call. */
  readonly followed?: boolean;
}

const order: readonly (keyof CallStamps)[] = [
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
];

/** What every client must do. Run it over the fake always, over an HTTP server and the embedded engine where there are any. */
export function clientContract(
  name: string,
  make: () => Promise<ClientUnderContract>,
  options: ClientContractOptions = {},
): void {
  const prompt = options.prompt ?? 'Count from one to one hundred in words.';
  const unfollowed = options.followed === false;
  const greedy: Sampling = { temperature: 0, top_p: 1, max_tokens: options.max_tokens ?? 24, seed: 1 };

  const start = async () => {
    const { client, model, dispose } = await make();
    onTestFinished(async () => {
      await client.close();
      await dispose?.();
    });
    const request = (text: string, sampling: Partial<Sampling> = {}): ClientRequest => ({
      model,
      input: { kind: 'chat', messages: [{ role: 'user', content: text }] },
      sampling: { ...greedy, ...sampling },
    });
    const ask = (sampling: Partial<Sampling> = {}, callOptions: CallOptions = {}): Promise<CallRecord> =>
      client.call(request(prompt, sampling), callOptions);
    return { client, request, ask };
  };

  const expectOk = (record: CallRecord) => {
    expect(record).toMatchObject({ status: 'ok', error_kind: null, error_message: null });
    expect(record.content).not.toBe('');
  };

  const expectOrdered = ({ stamps }: CallRecord) => {
    const seen = order.map((key) => stamps[key]).filter((at) => at !== null);
    expect(seen).toEqual([...seen].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
  };

  describe(`client contract: ${name}`, () => {
    test('opens twice and says what answers', async () => {
      const { client } = await start();
      const facts = await client.open();
      expect(facts.model).not.toBe('');
      expect(await client.open()).toEqual(facts);
    });

    test('a call that went well has its stamps in order, and as many gaps as pairs of tokens', async () => {
      const { ask } = await start();
      const record = await ask();
      expectOk(record);
      expectOrdered(record);
      const { first_any_ns, first_content_ns, last_content_ns } = record.stamps;
      expect([first_any_ns, first_content_ns, last_content_ns]).not.toContain(null);
      expect(record.content_events).toBeGreaterThan(options.whole === true ? 0 : 1);
      expect(record.icl_ns).toHaveLength(record.content_events - 1);
      expect(record.icl_ns.every((gap) => gap >= 0)).toBe(true);
      expect(record.icl_ns.reduce((sum, gap) => sum + gap, 0)).toBe(
        Number((last_content_ns ?? 0n) - (first_any_ns ?? 0n)),
      );
    });

    test.skipIf(unfollowed)(
      'the content is the deltas put together (skipped where no call can be followed)',
      async () => {
        const { ask } = await start();
        const deltas: { content: string; reasoning: string }[] = [];
        const record = await ask({}, { onDelta: (delta) => void deltas.push(delta) });
        expectOk(record);
        expect(deltas.map(({ content }) => content).join('')).toBe(record.content);
        expect(deltas.map(({ reasoning }) => reasoning).join('')).toBe(record.reasoning);
      },
    );

    test('tokens are counted by the server or engine', async () => {
      const { ask } = await start();
      const record = await ask();
      expect(record.usage?.prompt_tokens).toBeGreaterThan(0);
      expect(record.usage?.completion_tokens).toBeGreaterThan(0);
      expect(record).toMatchObject({
        n_tokens: record.usage?.completion_tokens,
        token_source: 'server_usage',
      });
    });

    test('max_tokens ends an answer with the finish reason length', async () => {
      const { ask } = await start();
      const record = await ask({ max_tokens: 3 });
      if (options.whole !== true) expectOk(record);
      expect(record).toMatchObject({ status: 'ok', finish_reason: 'length', n_tokens: 3 });
    });

    test('a stop text ends the answer before it', async () => {
      const { ask } = await start();
      const { content } = await ask();
      const stop = content.slice(Math.floor(content.length / 2)).slice(0, 4);
      const record = await ask({ stop: [stop] });
      expect(record).toMatchObject({
        status: 'ok',
        finish_reason: 'stop',
        content: content.slice(0, content.indexOf(stop)),
      });
    });

    test.skipIf(unfollowed || options.whole === true)(
      'an abort gives a cancelled record that keeps what had come (skipped where no call can be followed, or comes whole)',
      async () => {
        const { ask } = await start();
        const { content: whole } = await ask();
        const aborting = new AbortController();
        const record = await ask({}, { signal: aborting.signal, onDelta: () => aborting.abort() });
        expect(record).toMatchObject({ status: 'cancelled', n_tokens: null, token_source: null });
        expect(record.error_message).not.toBeNull();
        expect(record.content).not.toBe('');
        expect(record.content.length).toBeLessThan(whole.length);
        expect(whole.startsWith(record.content)).toBe(true);
        expectOrdered(record);
      },
    );

    test.skipIf(unfollowed)(
      'a call whose signal is aborted already is cancelled without an answer (skipped where no call can be followed)',
      async () => {
        const { ask } = await start();
        const record = await ask({}, { signal: AbortSignal.abort() });
        expect(record).toMatchObject({ status: 'cancelled', content: '', usage: null });
        expectOrdered(record);
      },
    );

    test.skipIf(unfollowed)(
      'a client serves on after a cancelled call (skipped where no call can be followed)',
      async () => {
        const { ask } = await start();
        const aborting = new AbortController();
        await ask({}, { signal: aborting.signal, onDelta: () => aborting.abort() });
        expectOk(await ask());
      },
    );

    test.skipIf(options.failing === undefined)(
      'a failed call is a record, not a throw (skipped where nothing can be made to fail)',
      async () => {
        const { client, request } = await start();
        const record = await client.call({ ...request(prompt), ...options.failing });
        expect(record.status).not.toBe('ok');
        expect(record).toMatchObject({ n_tokens: null, token_source: null });
        expect(record.error_message).not.toBeNull();
        expectOrdered(record);
      },
    );

    test('greedy calls give the same text again', async () => {
      const { ask } = await start();
      const [first, second] = [await ask(), await ask()];
      expectOk(first);
      expect(second.content).toBe(first.content);
    });

    test('calls in parallel do not mix', async () => {
      const { client, request } = await start();
      const prompts = [...(options.others ?? ['Say the word apple.', 'Say the word stone.']), prompt];
      const alone: CallRecord[] = [];
      for (const each of prompts) alone.push(await client.call(request(each)));
      const together = await Promise.all(prompts.map((each) => client.call(request(each))));
      for (const record of together) expectOk(record);
      expect(together.map(({ usage }) => usage?.prompt_tokens)).toEqual(
        alone.map(({ usage }) => usage?.prompt_tokens),
      );
      if (options.batchInvariant ?? true)
        expect(together.map(({ content }) => content)).toEqual(alone.map(({ content }) => content));
    });

    test('a call that is not streamed has the same text and no token times', async () => {
      const { client, request, ask } = await start();
      const streamed = await ask();
      const whole = await client.call({ ...request(prompt), stream: false });
      expectOk(whole);
      expect(whole.content).toBe(streamed.content);
      expect(whole.usage).toEqual(streamed.usage);
      expect(whole.stamps).toMatchObject({
        first_event_ns: null,
        first_any_ns: null,
        first_content_ns: null,
        last_content_ns: null,
      });
      expect(whole.icl_ns).toEqual([]);
      expectOrdered(whole);
    });

    test('closes twice, ends what is in flight, and calls made afterwards fail as records', async () => {
      const { client, request } = await start();
      const open = client.call(request(prompt, { max_tokens: 200 }));
      await client.close();
      await client.close();
      expect((await open).status).toBe('cancelled');
      expect((await client.call(request(prompt))).status).not.toBe('ok');
    });
  });
}
