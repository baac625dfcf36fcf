import { PerwattError, SteadyRule, type TrimAmount } from '@perwatt/core';
import { parseDuration } from './duration.js';

const EXAMPLES = 'plateau=0.9, batch_full=32, trim=10% or trim=30s,10s (also in calls: trim=100calls)';

/** `10%`, `30s` or `100calls`. */
function amountOf(text: string): TrimAmount {
  const [, percent] = /^(\d+(?:\.\d+)?) ?%$/.exec(text) ?? [];
  if (percent !== undefined) return { fraction: Number(percent) / 100 };
  const [, calls] = /^(\d+) ?calls?$/.exec(text) ?? [];
  return calls === undefined ? { seconds: parseDuration(text) / 1000 } : { calls: Number(calls) };
}

function ruleOf(name: string, value: string): unknown {
  switch (name) {
    case 'plateau':
      return { rule: name, ratio: Number(value) };
    case 'batch_full':
      return { rule: name, batch: Number(value) };
    case 'trim': {
      const [start = '', end = start] = value.split(',').map((part) => part.trim());
      return { rule: name, start: amountOf(start), end: amountOf(end) };
    }
    default:
      return null;
  }
}

/** The rule of a steady window as people write it. Throws `USAGE` for anything else. */
export function parseSteady(text: string): SteadyRule {
  const [name = '', value = '', ...more] = text.split('=').map((part) => part.trim());
  const rule = SteadyRule.safeParse(more.length > 0 || value === '' ? null : ruleOf(name, value));
  if (rule.success) return rule.data;
  throw new PerwattError('USAGE', `--steady ${text} is no rule of a steady window`, {
    hint: `Rules are ${EXAMPLES}.`,
  });
}
