import {
  type AcceleratorEntry,
  type Expect,
  isElsewhere,
  type ModelEntry,
  PerwattError,
} from '@perwatt/core';
import type { DeviceFacts } from '@perwatt/records';
import type { Plan } from './plan.js';

const GIB = 2 ** 30;

/**
 * Refuses a plan with an accelerator that is not the device it is expected to be: throws `ACCELERATOR_MISMATCH`, before
 * anything is measured.
 */
export function checkAccelerators(
  { cells, matrix }: Pick<Plan, 'cells' | 'matrix'>,
  devices: readonly DeviceFacts[],
): void {
  const used = cells.flatMap(({ models }) => models);
  const expecting = new Map(
    used
      .filter(({ accelerator }) => accelerator.expect !== undefined)
      .map((own) => [own.accelerator.id, own.accelerator]),
  );
  if (expecting.size === 0) return;
  for (const { accelerator, id } of used) {
    const far = accelerator.expect === undefined ? null : farPlace(modelOf(id, matrix), matrix);
    if (far !== null)
      throw refused(
        `accelerator ${accelerator.id} expects ${expectText(accelerator.expect)}, but model ${id} runs ${far}, whose devices can't be seen from here`,
      );
  }
  for (const entry of expecting.values()) {
    const problem = mismatch(entry, devices);
    if (problem !== null) throw refused(problem);
  }
}

const refused = (message: string) => new PerwattError('ACCELERATOR_MISMATCH', message);

const modelOf = (id: string, { axes, models = [] }: Plan['matrix']): ModelEntry | undefined =>
  [...axes.model, ...models].find((model) => model.id === id);

/** Where a model runs when that is another host; null for this one. */
function farPlace(
  model: ModelEntry | undefined,
  { endpoints = {}, engines = {} }: Plan['matrix'],
): string | null {
  const url = model?.endpoint === undefined ? undefined : endpoints[model.endpoint]?.url;
  if (url !== undefined && isElsewhere({ kind: 'http', endpoint: url })) return `at ${url}`;
  const engine = model?.engine === undefined ? undefined : engines[model.engine];
  return engine?.kind === 'agent' ? `by agent ${engine.agent}` : null;
}

/** Why the devices here are not what an accelerator expects; null when they are, or it expects nothing. */
export function mismatch(
  { id, kind, expect }: Pick<AcceleratorEntry, 'id' | 'kind' | 'expect'>,
  devices: readonly DeviceFacts[],
): string | null {
  if (expect === undefined) return null;
  const ofKind = devices.filter((device) => kind === 'other' || (kind === 'cpu') === (device.kind === 'cpu'));
  const wanted = expect.count ?? 1;
  if (ofKind.filter((device) => fits(device, expect)).length >= wanted) return null;
  const found = ofKind.map(deviceText).join(', ') || `no ${kind === 'cpu' ? 'CPU' : 'device'} that is known`;
  return `accelerator ${id} expects ${expectText(expect)}, but here is ${found}`;
}

function fits({ name, memory_bytes, power_limit_w }: DeviceFacts, expect: Expect): boolean {
  const { name: pattern, memory_gib, power_limit_w: limit } = expect;
  return (
    (pattern === undefined || new RegExp(pattern).test(name)) &&
    within(memory_bytes === null ? null : memory_bytes / GIB, memory_gib) &&
    within(power_limit_w, limit)
  );
}

/** A figure that isn't known is not within any range. */
const within = (value: number | null, range: Expect['memory_gib']): boolean =>
  range === undefined ||
  (value !== null &&
    value >= (range.min ?? Number.NEGATIVE_INFINITY) &&
    value <= (range.max ?? Number.POSITIVE_INFINITY));

function deviceText({ name, memory_bytes, power_limit_w }: DeviceFacts): string {
  const memory = memory_bytes === null ? 'memory not known' : `${(memory_bytes / GIB).toFixed(1)} GiB`;
  const limit = power_limit_w === null ? 'power limit not known' : `power limit ${power_limit_w} W`;
  return `"${name}" (${memory}, ${limit})`;
}

function expectText({ name, memory_gib, power_limit_w, count }: Expect = {}): string {
  const parts = [
    name === undefined ? null : `/${name}/`,
    rangeText(memory_gib, 'GiB'),
    rangeText(power_limit_w, 'W'),
  ].filter((part) => part !== null);
  return `${count === undefined ? '' : `${count} × `}${parts.join(' with ')}`;
}

function rangeText(range: Expect['memory_gib'], unit: string): string | null {
  if (range === undefined) return null;
  const { min, max } = range;
  if (min === undefined) return `at most ${max} ${unit}`;
  return max === undefined ? `at least ${min} ${unit}` : `${min} to ${max} ${unit}`;
}
