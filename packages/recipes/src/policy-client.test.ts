import { type ClientRequest, instant } from '@perwatt/core';
import { clientContract, tickingClock } from '@perwatt/test-kit';
import { describe, expect, it } from 'vitest';
import { saveCheckpoint } from './checkpoint.js';
import { policyAddress, policyClient, policySha256 } from './policy-client.js';
import { recipeById } from './recipes.js';

const recipe = recipeById('selfcest');
const params = recipe.parse({});
const text = JSON.stringify(saveCheckpoint(recipe.start(params, 1), { recipe, params, seed: 1 }));
const [item] = recipe.serve!.items(1, 1);

const clientOf = (address = 'recipe:selfcest@a.json', checkpoint = text) => {
  let at = 0n;
  const now = () => {
    at += 5n;
    return instant(at);
  };
  return policyClient({ address, text: checkpoint, clock: { now } });
};

const ask = (prompt: string, sampling: Partial<ClientRequest['sampling']> = {}): ClientRequest => ({
  model: 'm',
  input: { kind: 'chat', messages: [{ role: 'user', content: prompt }] },
  sampling: { temperature: 0, top_p: 1, max_tokens: 500, seed: 3, ...sampling },
});

describe('a policy as an endpoint', () => {
  it('opens twice and says what answers', async () => {
    const client = clientOf();
    const facts = await client.open();
    expect(facts).toMatchObject({
      kind: 'embedded',
      engine: 'perwatt-recipe',
      model_sha256: policySha256(text),
    });
    expect(await client.open()).toEqual(facts);
  });

  it('answers an item with its own tokens counted, and its stamps in order', async () => {
    const record = await clientOf().call(ask(item!.prompt));
    expect(record).toMatchObject({ status: 'ok', token_source: 'server_usage', finish_reason: 'stop' });
    expect(record.n_tokens).toBe(record.usage?.completion_tokens);
    expect(record.n_tokens).toBeGreaterThan(0);
    const { dispatch_ns, first_content_ns, end_ns } = record.stamps;
    expect(dispatch_ns < first_content_ns! && first_content_ns! < end_ns).toBe(true);
  });

  it('gives the same answer for a seed, from every client of the checkpoint, in any order', async () => {
    const [a, b] = [clientOf(), clientOf()];
    const answer = (await a.call(ask(item!.prompt))).content;
    await b.call(ask(item!.prompt, { seed: 9 }));
    expect((await b.call(ask(item!.prompt))).content).toBe(answer);
    const drawn = new Set<string>();
    for (let seed = 0; seed < 40; seed++) drawn.add((await b.call(ask(item!.prompt, { seed }))).content);
    expect(drawn.size).toBeGreaterThan(1);
  });

  it('fails on what is no item of its recipe, as a record', async () => {
    const record = await clientOf().call(ask('Who wrote Faust?'));
    expect(record).toMatchObject({ status: 'protocol_error', n_tokens: null, content: '' });
    expect(record.error_message).toContain('no item');
  });

  it('is cancelled before it answers when its signal is aborted already', async () => {
    const record = await clientOf().call(ask(item!.prompt), { signal: AbortSignal.abort() });
    expect(record).toMatchObject({ status: 'cancelled', content: '', usage: null });
  });

  it('ends for length where the tokens do not suffice', async () => {
    const record = await clientOf().call(ask(item!.prompt, { max_tokens: 1 }));
    expect(record).toMatchObject({ status: 'ok', finish_reason: 'length', n_tokens: 1, content: '' });
  });

  // biome-ignore format: a table is read in columns
  it.each([
    { address: 'recipe:sat@a.json',        want: /of recipe selfcest, not sat/,     why: 'a checkpoint of another recipe' },
    { address: 'recipe:selfest@a.json',    want: /no recipe "selfest"/,             why: 'an unknown recipe' },
    { address: 'http://x',                 want: /is no recipe:<id>@<checkpoint>/,  why: 'another kind of address' },
  ])('is refused for $why', async ({ address, want }) => {
    await expect(clientOf(address).open()).rejects.toThrow(want);
  });

  it('is refused where the policy answers nothing', async () => {
    const router = recipeById('router_fit');
    const own = router.parse({ queries: 50, eval_items: 20 });
    const checkpoint = saveCheckpoint(router.start(own, 1), { recipe: router, params: own, seed: 1 });
    const client = clientOf('recipe:router_fit@a.json', JSON.stringify(checkpoint));
    await expect(client.open()).rejects.toThrow('answers no prompts');
  });

  it('is told from other addresses', () => {
    expect(policyAddress('recipe:sat@runs/a/b.json')).toEqual({ recipe: 'sat', checkpoint: 'runs/a/b.json' });
    expect(policyAddress('http://localhost/v1')).toBeNull();
  });
});

describe('a policy that writes token by token', () => {
  const writer = recipeById('tiny_transformer');
  const own = writer.parse({ width: 16, hidden: 16, worked: 1 });
  const text = JSON.stringify(saveCheckpoint(writer.start(own, 1), { recipe: writer, params: own, seed: 1 }));
  const client = clientOf('recipe:tiny_transformer@a.json', text);
  const prompt = writer.serve!.items(1, 1)[0]!.prompt;
  const read = async (sampling: Partial<ClientRequest['sampling']> = {}, stream = true) => {
    const deltas: string[] = [];
    const onDelta = ({ content }: { readonly content: string }) => void deltas.push(content);
    const record = await client.call({ ...ask(prompt, sampling), stream }, { onDelta });
    return { record, deltas };
  };

  it('passes each token on with a stamp of its own, and counts them all', async () => {
    const { record, deltas } = await read();
    const { usage, n_tokens, content, stamps, icl_ns, content_events } = record;
    expect(deltas.join('')).toBe(content);
    expect(deltas.length).toBeGreaterThan(1);
    expect(content_events).toBe(deltas.length);
    expect(icl_ns).toHaveLength(deltas.length - 1);
    expect(icl_ns.every((gap) => gap > 0)).toBe(true);
    const { first_content_ns, last_content_ns } = stamps;
    expect(icl_ns.reduce((sum, gap) => sum + gap, 0)).toBe(Number(last_content_ns! - first_content_ns!));
    expect(usage).toEqual({
      prompt_tokens: prompt.split(': ')[1]!.split(' ').length + 1,
      completion_tokens: n_tokens,
    });
  });

  it('stops where its tokens are spent, with what it has written', async () => {
    const { record, deltas } = await read({ max_tokens: 2 });
    expect(record).toMatchObject({ finish_reason: 'length', n_tokens: 2 });
    expect((await read()).record.content.startsWith(record.content)).toBe(true);
    expect(deltas.join('')).toBe(record.content);
    expect((await read({ max_tokens: 0 })).record).toMatchObject({ content: '', n_tokens: 0 });
  });

  it('ends by itself only with its end', async () => {
    const ends = await Promise.all(Array.from({ length: 30 }, (_, seed) => read({ seed })));
    const reasons = ends.map(({ record }) => [record.finish_reason, record.n_tokens === 12]);
    expect(reasons).toContainEqual(['stop', false]);
    expect(reasons).toContainEqual(['length', true]);
    expect(reasons).not.toContainEqual(['length', false]);
  });

  it('tells all at once without a stream', async () => {
    const { record, deltas } = await read({}, false);
    expect(deltas).toEqual([record.content]);
    expect(record).toMatchObject({ icl_ns: [], events: 1, content_events: 1 });
    expect(record.stamps.first_content_ns).toBeNull();
  });

  it('fails on what is no item', async () => {
    expect(await client.call(ask('Who wrote Faust?'))).toMatchObject({ status: 'protocol_error' });
  });
});

/** An untrained policy of a recipe, held to what every client must do. */
function holdToContract(id: string, set: Readonly<Record<string, unknown>>, whole: boolean): void {
  const own = recipeById(id);
  const values = own.parse(set);
  const checkpoint = JSON.stringify(
    saveCheckpoint(own.start(values, 1), { recipe: own, params: values, seed: 1 }),
  );
  const prompts = own.serve!.items(1, 20).map((each) => each.prompt);
  // What comes whole must take more than the few tokens that the contract allows once.
  if (whole) prompts.sort((a, b) => b.length - a.length);
  const [prompt = '', ...others] = prompts.slice(0, 3);
  clientContract(
    `policy of ${id}`,
    async () => ({
      client: policyClient({
        address: `recipe:${id}@a.json`,
        text: checkpoint,
        clock: tickingClock(),
      }),
      model: 'policy',
    }),
    {
      prompt,
      others: others as [string, string],
      max_tokens: 200,
      whole,
      failing: { input: { kind: 'chat', messages: [{ role: 'user', content: 'Who wrote Faust?' }] } },
    },
  );
}

holdToContract('tiny_transformer', { width: 16, hidden: 16, worked: 1 }, false);
for (const id of ['selfcest', 'sat', 'ovcsd', 'star', 'dsm_verifier', 'absolute_zero'])
  holdToContract(id, {}, true);
