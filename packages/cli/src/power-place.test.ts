import { expect, test } from 'vitest';
import { powerPlace } from './power-place.js';

// biome-ignore format: a table is read in columns
test.each<[why: string, env: Record<string, string>, expected: ReturnType<typeof powerPlace>]>([
  ['the host itself',    {},                                                             { root: '/', libraries: {} }],
  ['a container',        { PERWATT_SYSFS_ROOT: '/host' },                                { root: '/host', libraries: {} }],
  ['libraries',          { PERWATT_NVML_LIB: '/n.so', PERWATT_AMDSMI_LIB: '/a.so' },     { root: '/', libraries: { nvml: '/n.so', amdsmi: '/a.so' } }],
  ['another library',    { PERWATT_LEVEL_ZERO_LIB: '/z.so' },                            { root: '/', libraries: { level_zero: '/z.so' } }],
  ['empty is as unset',  { PERWATT_NVML_LIB: '' },                                       { root: '/', libraries: {} }],
])('where power is looked for: %s', (_why, env, expected) => {
  expect(powerPlace({ env })).toEqual(expected);
});
