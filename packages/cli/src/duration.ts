import { PerwattError } from '@perwatt/core';

const units_ms: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
};

/** A duration as people write it (`500ms`, `30s`, `1.5m`, `10min`, `2h`), in ms. Throws `USAGE` for anything else. */
export function parseDuration(text: string): number {
  const [, figure = '', unit = ''] = /^(\d+(?:\.\d+)?) ?(ms|s|min|m|h)$/.exec(text.trim()) ?? [];
  const factor = units_ms[unit];
  if (factor === undefined)
    throw new PerwattError('USAGE', `"${text}" is not a duration`, {
      hint: 'Write a number and a unit: 500ms, 30s, 5m, 2h.',
    });
  return Number(figure) * factor;
}
