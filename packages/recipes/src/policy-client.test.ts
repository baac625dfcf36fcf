import { type ClientRequest, instant } from '@perwatt/core';
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
