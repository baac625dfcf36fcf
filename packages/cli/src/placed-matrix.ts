import { resolve } from 'node:path';
import type { LoadEntry, MatrixFile } from '@perwatt/core';

type Json = Readonly<Record<string, unknown>>;

/** A matrix whose relative paths are taken from the folder `base`, so that it means the same from any folder. */
export function placedMatrix(matrix: MatrixFile, base: string): MatrixFile {
  const { axes, models, endpoints, power } = matrix;
  const placed = <T extends object>(entry: T, ...keys: readonly string[]): T =>
    placedKeys(entry as T & Json, keys, base);
  const load = ({ arrivals, ...rest }: LoadEntry): LoadEntry =>
    arrivals === undefined ? rest : { ...rest, arrivals: placed(arrivals, 'path') };
  const policies = Object.entries(endpoints ?? {}).map(([name, endpoint]) => [
    name,
    { ...endpoint, url: placedPolicy(endpoint.url, base) },
  ]);
  return {
    ...matrix,
    axes: {
      ...axes,
      model: axes.model.map((entry) => placed(entry, 'path')),
      dataset: axes.dataset.map((entry) => placed(entry, 'path', 'shots')),
      strategy: axes.strategy.map((entry) => placed(entry, 'router')),
      load: axes.load.map(load),
      ...(axes.variant && {
        variant: axes.variant.map((entry) => ({
          ...entry,
          ...(entry.model && { model: placed(entry.model, 'path') }),
          ...(entry.strategy && { strategy: placed(entry.strategy, 'router') }),
        })),
      }),
    },
    ...(models && { models: models.map((entry) => placed(entry, 'path')) }),
    ...(endpoints && { endpoints: Object.fromEntries(policies) }),
    ...(power && {
      power: {
        ...power,
        ...(power.meters && { meters: power.meters.map((entry) => placed(entry, 'path')) }),
      },
    }),
  };
}

function placedKeys<T extends Json>(entry: T, keys: readonly string[], base: string): T {
  const found = keys.flatMap((key) => {
    const value = entry[key];
    return typeof value === 'string' ? [[key, resolve(base, value)] as const] : [];
  });
  return { ...entry, ...Object.fromEntries(found) };
}

/** `recipe:<id>@<checkpoint>` with the checkpoint's path made absolute; any other address as it is. */
function placedPolicy(url: string, base: string): string {
  const [, head, checkpoint] = /^(recipe:[a-z_]+@)(.+)$/.exec(url) ?? [];
  return head === undefined || checkpoint === undefined ? url : `${head}${resolve(base, checkpoint)}`;
}
