import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, test } from 'vitest';
import { countParams } from '../flops/count-params.js';
import { kvElements } from '../flops/kv-bytes.js';
import type { CatalogueAccelerator } from './catalogue-schema.js';
import { shippedCatalogue } from './load-catalogue.js';

const { models, accelerators, as_of, source_list, ambiguous } = shippedCatalogue();

test('46 models and 29 accelerators, no id twice', () => {
  expect(new Set(models.map(({ id }) => id)).size).toBe(46);
  expect(new Set(accelerators.map(({ id }) => id)).size).toBe(29);
  expect([models.length, accelerators.length]).toEqual([46, 29]);
});

describe.each(models)('$id', (model) => {
  test('has the parameters that its shape gives, to the unit', () => {
    const { shape } = model;
    if (shape === null) throw new Error('every shipped model has a shape');
    const { total, active } = countParams(shape);
    expect(total + (model.vision_params ?? 0)).toBe(model.params_total);
    expect(active).toBe(model.params_active);
  });

  test('has a source for every fact', () => {
    const groups = ['shape', 'params_total', 'release_date', 'licence', 'context_length'];
    const present = model.params_published === null ? groups : [...groups, 'params_published'];
    for (const group of present) expect(model.sources[group] ?? [], group).not.toEqual([]);
    for (const key of Object.values(model.sources).flat()) expect(source_list.models).toHaveProperty([key]);
  });
});

const groupOf: readonly (readonly [keyof CatalogueAccelerator, string])[] = [
  ['memory_bytes', 'memory'],
  ['memory_bandwidth_bytes_per_s', 'bandwidth'],
  ['last_level_cache_bytes', 'last_level_cache'],
  ['power_limit_w', 'power'],
  ['release_date', 'release_date'],
  ['estimate', 'estimate'],
];

describe.each(accelerators)('$id', (accelerator) => {
  test('has a source for every fact', () => {
    for (const [field, group] of groupOf)
      if (accelerator[field] !== null) expect(accelerator.sources[group] ?? [], group).not.toEqual([]);
    if (Object.values(accelerator.peak_flop_per_s).some((peak) => peak !== null))
      expect(accelerator.sources['peak']).toBeDefined();
    for (const key of Object.values(accelerator.sources).flat())
      expect(source_list.accelerators).toHaveProperty([key]);
  });

  test('lists dense peaks only', () => {
    const { bf16, fp16, fp8, fp4 } = accelerator.peak_flop_per_s;
    const within = (peak: number | null, wider: number | null, factor: number) =>
      peak === null || wider === null || peak <= factor * wider;
    if (accelerator.id !== 'intel-gaudi-3-oam')
      expect(within(fp16, bf16, 1) && within(bf16, fp16, 1)).toBe(true);
    expect(within(fp8, bf16, 2.03)).toBe(true);
    expect(within(fp4, fp8, 4.01)).toBe(true);
  });

  test('has no peak of a type that it lacks', () => {
    for (const type of accelerator.unsupported_types) expect(accelerator.peak_flop_per_s[type]).toBeNull();
  });
});

test('no release lies after the day of the facts', () => {
  for (const { release_date } of [...models, ...accelerators])
    if (release_date !== null) expect(release_date <= as_of).toBe(true);
});

test('what is from memory names a field there is, and is sourced to memory', () => {
  for (const entry of [...models, ...accelerators])
    for (const field of entry.from_memory) {
      const value = field
        .split('.')
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], entry);
      expect(value, `${entry.id} ${field}`).not.toBeNull();
      expect(value, `${entry.id} ${field}`).toBeDefined();
    }
});

test('ambiguous names point at entries there are, and are no ids', () => {
  const ids = new Set([...models, ...accelerators].map(({ id }) => id));
  for (const { name, candidates } of [...ambiguous.models, ...ambiguous.accelerators]) {
    expect(ids.has(name)).toBe(false);
    for (const id of candidates) expect(ids.has(id)).toBe(true);
  }
});

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const reference = join(root, process.env['PERWATT_SHARED'] ?? '../shared', 'reference');
const here = existsSync(join(reference, 'catalogue-models.json'));

describe('against the reference files', () => {
  beforeEach(({ skip }) => skip(!here, `no reference data in ${reference}; set PERWATT_SHARED`));
  const read = (name: string) => JSON.parse(readFileSync(join(reference, name), 'utf8'));

  test('every derived figure of a model is what its shape gives', () => {
    const theirs = read('catalogue-models.json').models as readonly {
      readonly id: string;
      readonly embedding_params: number;
      readonly derived: Record<string, number>;
    }[];
    for (const { id, embedding_params, derived } of theirs) {
      const shape = models.find((model) => model.id === id)?.shape;
      if (!shape) throw new Error(id);
      const [counts, kv] = [countParams(shape), kvElements(shape)];
      const ratio = (2 * shape.heads) / shape.kv_heads;
      expect([id, counts.embedding]).toEqual([id, embedding_params]);
      expect([id, derived]).toEqual([
        id,
        {
          layer_matmul_params_active: counts.layer_matmul_active,
          head_matmul_params: counts.head_matmul,
          decode_read_params: counts.decode_read,
          kv_elements_per_token_full_layers: kv.full,
          kv_elements_per_token_sliding_layers: kv.sliding,
          attention_flop_per_context_token_full_layers: kv.full * ratio,
          attention_flop_per_context_token_sliding_layers: kv.sliding * ratio,
        },
      ]);
    }
  });

  test('facts of accelerators agree', () => {
    const same = [
      'memory_bytes',
      'memory_bandwidth_bytes_per_s',
      'peak_flop_per_s',
      'peak_fp16_accumulate_flop_per_s',
      'power_limit_w',
      'release_date',
      'unsupported_types',
    ] as const;
    const theirs = read('catalogue-accelerators.json').accelerators as readonly CatalogueAccelerator[];
    const pick = (entry: CatalogueAccelerator | undefined) => same.map((field) => entry?.[field]);
    for (const entry of theirs)
      expect(pick(accelerators.find(({ id }) => id === entry.id))).toEqual(pick(entry));
  });
});
