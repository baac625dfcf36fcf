import { shippedCatalogue } from '@perwatt/metrics';
import { expect, test } from 'vitest';
import { datasheetPeak, shareOf } from './datasheet-peak.js';

// biome-ignore format: a table is read in columns
test.each([
  ['NVIDIA H200',           'bf16',     989.4e12, 4.8e12, null,                                                        'by the name that its driver gives'],
  ['NVIDIA H200',           'f32',      67e12,    4.8e12, null,                                                        'another type'],
  ['NVIDIA A100-SXM4-40GB', 'fp8_e4m3', null,     1.555e12, 'the catalogue has no fp8 rate of nvidia-a100-sxm-40',     'a type that it has not'],
  ['AMD EPYC 9654 96-Core Processor', 'f32', null, 460.8e9, 'the catalogue has no fp32 rate of amd-epyc-9654',          'an estimate of third parties is no datasheet'],
  ['NVIDIA H200',           'int4',     null,     4.8e12, 'the catalogue has no int4 rate of nvidia-h200-sxm',         'a type that nobody lists'],
  ['AMD EPYC',              'f32',      null,     null,   'the catalogue does not know it: "AMD EPYC" ',               'a name that says too little'],
])('%s in %s: %o FLOP/s', (name, dtype, peak, bandwidth, reason, _why) => {
  const found = datasheetPeak(shippedCatalogue(), name, dtype);
  expect([found.peak_flop_per_s, found.bandwidth_bytes_per_s]).toEqual([peak, bandwidth]);
  expect(found.source === null).toBe(peak === null);
  if (reason === null) expect(found.reason).toBeNull();
  else expect(found.reason).toContain(reason);
});

test('every source is one of the catalogue', () => {
  const catalogue = shippedCatalogue();
  for (const { id } of catalogue.accelerators)
    for (const key of datasheetPeak(catalogue, id, 'bf16').source?.split(', ') ?? [])
      expect([...Object.keys(catalogue.source_list.accelerators), 'memory']).toContain(key);
});

test('a share needs both', () => {
  expect([shareOf(5, 10), shareOf(null, 10), shareOf(5, null)]).toEqual([0.5, null, null]);
});
