import { PerwattError, type SloLimits } from '@perwatt/core';
import type { Slo, SloName } from '@perwatt/metrics';
import { parseDuration } from './duration.js';

const names: Readonly<Record<string, SloName>> = {
  ttft: 'ttft_any',
  ttft_any: 'ttft_any',
  ttft_content: 'ttft_content',
  tpot: 'tpot',
  e2e: 'e2e_from_schedule',
  e2e_from_schedule: 'e2e_from_schedule',
  e2e_from_dispatch: 'e2e_from_dispatch',
};

/** Limits as people write them (`ttft=500ms,tpot=50ms,e2e=10s`), in ns. Throws `USAGE` for anything else. */
export function parseSlo(text: string): Slo {
  const limits: Partial<Record<SloName, number>> = {};
  for (const part of text.split(',')) {
    const [name = '', limit, ...more] = part.split('=').map((each) => each.trim());
    const known = names[name];
    if (known === undefined || limit === undefined || more.length > 0)
      throw new PerwattError('USAGE', `--slo ${part} is not name=time`, {
        hint: `Names are ${Object.keys(names).join(', ')}; times are like 500ms or 2s.`,
      });
    limits[known] = parseDuration(limit) * 1e6;
  }
  return limits;
}

/** The same in the form of a matrix, s. */
export const sloLimits = (slo: Slo): SloLimits =>
  Object.fromEntries(Object.entries(slo).map(([name, limit_ns]) => [`${name}_s`, limit_ns / 1e9]));
