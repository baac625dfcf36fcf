import { type CallRequest, createRng, type Rng } from '@perwatt/core';
import { drive, type Scripted } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { context, item } from './settings.fixture.js';
import { strategyById } from './strategies.js';

const QUERIES = 2000;
/** Chance that one attempt of the weak and of the strong model is right. */
const [weak, strong] = [0.6, 0.85];

/** A model that is right with its probability, and otherwise always wrong in the same way. */
const skilled =
  (rng: Rng) =>
  (call: CallRequest): Scripted => {
    const skill = call.endpoint === 'strong' ? strong : weak;
    return rng() < skill ? 'It is 42.' : 'It is 7.';
  };

interface Tally {
  readonly right: number;
  readonly calls: number;
}

/** Share of queries that end right, and calls of a query, over `QUERIES` queries. */
async function trial(
  id: string,
  params: object,
  respond: (rng: Rng) => (call: CallRequest) => Scripted = skilled,
): Promise<Tally> {
  const strategy = strategyById(id);
  const parsed = strategy.params.parse(params);
  const [rng, answers] = [createRng(11), respond(createRng(5))];
  let [right, calls] = [0, 0];
  for (let i = 0; i < QUERIES; i++) {
    const { batches, outcome } = await drive(strategy.run(item, parsed, { ...context(), rng }), answers);
    calls += batches.flat().length;
    if (outcome.status === 'answered' && outcome.answer.includes('42')) right += 1;
  }
  return { right: right / QUERIES, calls: calls / QUERIES };
}

/** Four standard deviations of a share over the queries. */
const noise = (p: number) => 4 * Math.sqrt((p * (1 - p)) / QUERIES);

const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k);
/** Chance that more than half of `n` attempts are right. */
const majority = (n: number, p: number) =>
  Array.from({ length: n + 1 }, (_, k) =>
    2 * k > n ? choose(n, k) * p ** k * (1 - p) ** (n - k) : 0,
  ).reduce((a, b) => a + b);
const agree = weak ** 3 + (1 - weak) ** 3;

// biome-ignore format: a table is read in columns
test.each<readonly [id: string, params: object, accuracy: number, calls: number, why: string]>([
  ['single',            {},                                                            weak,               1, 'one attempt'],
  ['self_consistency',  { attempts: 5 },                                               majority(5, weak),  5, 'a binomial majority'],
  ['team_vote',         { members: ['strong', 'strong', 'strong'] },                   majority(3, strong), 3, 'likewise, of a team'],
  ['repeated_sampling', { attempts: 3 },                                               1 - (1 - weak) ** 3, 3, 'pass@3 = 1 − (1 − p)³'],
  ['best_of_n',         { attempts: 3, verifier: 'oracle' },                           1 - (1 - weak) ** 3, 3, 'an oracle reaches pass@3'],
  ['cascade',           { attempts: 3, threshold: 1 },                                 weak ** 3 + (1 - agree) * strong, 3 + 1 - agree, 'the strong model where the weak one differs'],
  ['route_threshold',   { router: 'random', threshold: 0.25 },                         0.75 * strong + 0.25 * weak, 1, 'a random router mixes the two'],
])('%s with %j is right on a share of %d with %d calls: %s', async (id, params, accuracy, calls) => {
  const found = await trial(id, params);
  expect(Math.abs(found.right - accuracy)).toBeLessThan(noise(accuracy));
  expect(Math.abs(found.calls - calls)).toBeLessThan(4 / Math.sqrt(QUERIES));
});

test('best_of_n with a verifier that errs is what the enumeration of all cases says', async () => {
  const [high_if_right, high_if_wrong] = [0.8, 0.3];
  const cases = [true, false].flatMap((right) =>
    [true, false].map((high) => {
      const p = right ? high_if_right : high_if_wrong;
      return { right, high, chance: (right ? weak : 1 - weak) * (high ? p : 1 - p) };
    }),
  );
  const triples = cases.flatMap((a) => cases.flatMap((b) => cases.map((c) => [a, b, c])));
  const expected = triples.reduce((sum, three) => {
    const chosen = three.find(({ high }) => high) ?? three[0];
    return sum + (chosen?.right === true ? three.reduce((p, { chance }) => p * chance, 1) : 0);
  }, 0);
  const textIn = ({ input }: CallRequest) =>
    (input.kind === 'chat' ? input.messages.at(-1)?.content : '') ?? '';
  const rating = (rng: Rng, call: CallRequest): Scripted =>
    rng() < (textIn(call).includes('It is 42.') ? high_if_right : high_if_wrong) ? 'Score: 9' : 'Score: 2';
  const noisy = (rng: Rng) => (call: CallRequest) =>
    call.role === 'verifier' ? rating(rng, call) : skilled(rng)(call);
  const { right, calls } = await trial('best_of_n', { attempts: 3 }, noisy);
  expect(Math.abs(right - expected)).toBeLessThan(noise(expected));
  expect(calls).toBe(6);
});
