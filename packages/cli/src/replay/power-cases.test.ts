import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { powerSources } from '@perwatt/native-power';
import { sharedFolder } from '@perwatt/test-kit';
import { describe, expect, test } from 'vitest';
import { type Replayed, replayCases } from './replay-case.js';

interface Fixture {
  readonly id: string;
  readonly expect: Readonly<Record<string, unknown>>;
}

const path = join(sharedFolder(), 'reference/power-cases.md');
const noAddon = powerSources().length === 0;
const problem = noAddon ? 'the addon is not built' : existsSync(path) ? null : `${path} is not there`;
if (problem !== null) process.stderr.write(`public measurement bugs skipped: ${problem}\n`);

const fixtures: readonly Fixture[] =
  problem === null
    ? [...readFileSync(path, 'utf8').matchAll(/^```json\n([\s\S]*?)^```/gm)].flatMap(
        ([, block]) => JSON.parse(block ?? '') as Fixture[],
      )
    : [];

/** What the projects that had the bug would have said, in the place where the right value stands. */
// biome-ignore format: a table is read in columns
const wrong: readonly (readonly [id: string, place: readonly string[], value: unknown])[] = [
  ['CTR-01',  ['domains', 'package-0', 'joules'],  -262142],
  ['CTR-02',  ['domains', 'package-0', 'joules'],  -3999.99],
  ['CTR-03',  ['domains', 'dram-0', 'joules'],     2600000],
  ['CTR-04',  ['domains', 'package-0', 'joules'],  1.8446744073447457e13],
  ['CTR-05',  ['domains', 'package-0', 'joules'],  -250769.468],
  ['CTR-06a', ['domains', 'package-0', 'hi'],      30811],
  ['CTR-06b', ['domains', 'package-0', 'joules'],  30811],
  ['CTR-07',  ['domains', 'package-0', 'joules'],  714],
  ['CTR-08',  ['domains', 'gpu-0', 'joules'],      22543283],
  ['CTR-09',  ['domains', 'package-0', 'joules'],  100020],
  ['CTR-10a', ['domains', 'gpu-0', 'joules'],      1.8446744073709552e16],
  ['CTR-10b', ['domains', 'gpu-0', 'joules'],      900070],
  ['CTR-11',  ['domains', 'package-0', 'joules'],  -262142],
  ['CTR-12',  ['domains', 'package-0', 'joules'],  200001.5],
  ['CTR-13',  ['domains', 'plug', 'joules'],       -37440],
  ['TOP-01',  ['cpu'],                             20],
  ['TOP-02',  ['cpu'],                             14.44],
  ['TOP-03',  ['cpu'],                             10],
  ['TOP-04',  ['sum'],                             50],
  ['TOP-05',  ['gpu'],                             12000],
  ['TOP-06',  ['module_w'],                        17],
  ['TOP-07',  ['system'],                          0.006],
  ['ACC-01',  ['joules'],                          0],
  ['ACC-02',  ['joules'],                          0],
  ['DEC-01',  ['watts'],                           4294967.295],
  ['DEC-02',  ['values', '0'],                     9.2e18],
  ['DEC-03',  ['watts', '1'],                      4.99e15],
  ['DEC-04',  ['joules'],                          1.0027],
  ['GAU-01',  ['joules'],                          4.5],
  ['GAU-02',  ['joules'],                          0],
  ['GAU-03',  ['flag'],                            null],
  ['GAU-04',  ['mean_w'],                          0],
  ['GAU-05',  ['joules'],                          0],
  ['GAU-06',  ['joules'],                          0],
  ['GAU-07',  ['trailing_joules'],                 6700],
  ['GAU-08',  ['random_phase_mean_w'],             700],
  ['WIN-01a', ['valid'],                           true],
  ['WIN-01b', ['mean_w'],                          440],
  ['WIN-02',  ['q2'],                              10000],
];

const near = (found: number, wanted: number, id: string) => {
  const statistical = id === 'GAU-08' ? 0.05 : 1e-6;
  return (
    Math.abs(found - wanted) <= Math.max(id.startsWith('CTR') ? 1e-6 : 0, statistical * Math.abs(wanted))
  );
};

/** Whether everything that `wanted` names is found, numbers within the tolerance; lists in full. */
function agrees(found: unknown, wanted: unknown, id: string): boolean {
  if (typeof wanted === 'number') return typeof found === 'number' && near(found, wanted, id);
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(found) &&
      found.length === wanted.length &&
      wanted.every((w, i) => agrees(found[i], w, id))
    );
  }
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  const inside = (found ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(wanted).every(([name, value]) => agrees(inside[name], value, id));
}

const at = (value: unknown, place: readonly string[]): unknown =>
  place.reduce<unknown>((inner, name) => (inner as Readonly<Record<string, unknown>>)[name], value);

describe.skipIf(problem !== null)('public measurement bugs', () => {
  test('there is a wrong value for every one', () => {
    expect(fixtures.length).toBeGreaterThanOrEqual(39);
    expect(wrong.map(([id]) => id).toSorted()).toEqual(fixtures.map(({ id }) => id).toSorted());
  });

  test.each(fixtures.map((fixture) => [fixture.id, fixture] as const))('%s', (id, fixture) => {
    const [replayed] = replayCases(fixture) as [Replayed];
    expect(replayed.computed, id).not.toHaveProperty('unsupported');
    if (!agrees(replayed.computed, fixture.expect, id)) expect(replayed.computed).toEqual(fixture.expect);
    for (const [of, place, value] of wrong) {
      if (of === id)
        expect(agrees(at(replayed.computed, place), value, id), `${place.join('.')}`).toBe(false);
    }
  });
});
