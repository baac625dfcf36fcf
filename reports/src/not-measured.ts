import { isElsewhere, type Scope } from '@perwatt/core';
import { FEWEST_REPEATS } from '@perwatt/metrics';
import { cellEndpoints } from '@perwatt/records';
import type { NotMeasured, RunResults } from './results-types.js';

type Draft = Omit<RunResults, 'not_measured' | 'timeline' | 'shown_queries' | 'unparsed_answers'>;

const many = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

const scopeTexts: Readonly<Partial<Record<Scope, string>>> = {
  wall: 'No wall meter was read: losses of the power supply, fans, disks and the display are in no figure.',
  gpu: 'No GPU was metered: if one was at work, its energy is missing.',
  dram: 'Memory was not metered on its own: its energy is missing unless the processor package includes it.',
};

function scopesMissing({ cells }: Draft): NotMeasured[] {
  const boundaries = cells.map(({ energy }) => energy.boundary).filter((boundary) => boundary !== null);
  if (boundaries.length === 0) return [];
  const scopes = new Set(boundaries.flatMap(({ domains }) => domains.map(({ scope }) => scope)));
  if (scopes.has('wall')) return [];
  return (Object.entries(scopeTexts) as [Scope, string][])
    .filter(([scope]) => !scopes.has(scope))
    .map(([scope, text]) => ({ code: `scope_${scope}`, text }));
}

function powerMissing({ cells, power }: Draft): NotMeasured[] {
  if (power.length === 0)
    return [{ code: 'no_power', text: 'No power was recorded: every energy figure is missing.' }];
  const notes: NotMeasured[] = [];
  if (cells.some(({ energy }) => energy.boundary?.provenance === 'estimated')) {
    notes.push({
      code: 'estimated',
      text: 'Joules were estimated from processor load, not measured: the true power of the host is unknown. Values marked ~ are good for orders of magnitude, not for claims.',
    });
  }
  if (cells.some(({ energy }) => energy.boundary?.provenance === 'simulated')) {
    notes.push({
      code: 'simulated',
      text: 'Nothing here was run or measured: answers, times and joules follow the laws under `simulate` of the matrix. They say what such a fleet would show, and nothing of any real device.',
    });
  }
  const used = new Set(cells.flatMap(({ energy }) => energy.boundary?.domains.map(({ id }) => id) ?? []));
  const unused = power.flatMap(({ domains }) => domains).filter(({ id }) => !used.has(id));
  if (unused.length > 0) {
    const names = [...new Set(unused.map(({ id, provenance }) => `${id} (${provenance})`))].join(', ');
    notes.push({ code: 'outside_boundary', text: `Recorded, but not part of any total: ${names}.` });
  }
  const without = cells.filter(({ energy }) => energy.gross_j === null && energy.boundary !== null);
  if (without.length > 0) {
    const reasons = [...new Set(without.map(({ energy }) => energy.reason ?? 'unknown'))].join(', ');
    notes.push({
      code: 'energy_missing',
      text: `${many(without.length, 'cell')} without energy: ${reasons}.`,
    });
  }
  return notes;
}

/** This host's sensors say nothing of an endpoint on another one. */
function endpointsElsewhere({ cells }: Draft): NotMeasured[] {
  const addresses = cells.flatMap(({ provenance }) =>
    cellEndpoints({ provenance }).flatMap((one) => (one !== null && isElsewhere(one) ? [one.endpoint] : [])),
  );
  if (addresses.length === 0) return [];
  const text = `${[...new Set(addresses)].join(', ')}: on another host. Only an external meter counts for it; this host's own sensors do not.`;
  return [{ code: 'endpoint_elsewhere', text }];
}

function runMissing({ cells, left_out, protocol }: Draft): NotMeasured[] {
  const notes = left_out.map(({ what, reason }) => ({
    code: 'left_out',
    text: `Left out: ${what}: ${reason}`,
  }));
  const unfinished = cells.filter(({ status }) => status !== 'done');
  if (unfinished.length > 0)
    notes.push({ code: 'unfinished', text: `${many(unfinished.length, 'cell')} did not finish.` });
  const reasons = cells.flatMap(({ skipped }) => skipped ?? []);
  for (const reason of new Set(reasons)) {
    const count = reasons.filter((other) => other === reason).length;
    notes.push({ code: 'skipped', text: `Skipped: ${many(count, 'cell')}: ${reason}` });
  }
  const lost = cells.reduce((sum, { counts }) => sum + counts.unsettled, 0);
  if (lost > 0) {
    notes.push({
      code: 'unsettled',
      text: `${many(lost, 'query').replace('querys', 'queries')} were cut off: their calls have no result and are in no figure.`,
    });
  }
  const torn = cells.flatMap((cell) => cell.torn);
  if (torn.length > 0) notes.push({ code: 'torn', text: `Records with a torn end: ${torn.join('; ')}.` });
  if (protocol === 'quick') {
    notes.push({
      code: 'quick',
      text: 'Protocol quick: short baselines shared by several cells, one warm-up call, no least window. Good for a first look.',
    });
  }
  return notes;
}

function spreadMissing({ cells }: Draft): NotMeasured[] {
  const notes: NotMeasured[] = [];
  const known = cells.filter(({ energy }) => energy.gross_j !== null);
  if (known.some(({ counts }) => counts.repeats < FEWEST_REPEATS)) {
    notes.push({
      code: 'spread_unknown',
      text: `Between-run spread unknown: with fewer than ${FEWEST_REPEATS} repeats the bounds of an energy figure are those of the sensor alone, and no difference in energy may be called one.`,
    });
  }
  const stopped = cells.flatMap(({ stopping }) => (stopping == null ? [] : [stopping]));
  for (const note of new Set(stopped.map((stopping) => stopping.note))) {
    const count = stopped.filter((stopping) => stopping.note === note).length;
    notes.push({ code: 'stopped_by_data', text: `Repeats of ${many(count, 'cell')}: ${note}.` });
  }
  const noBaseline = known.filter(({ energy }) => energy.net_j === null);
  if (noBaseline.length > 0)
    notes.push({
      code: 'no_net',
      text: `${many(noBaseline.length, 'cell')} without a baseline: no net energy.`,
    });
  const open = known.filter(({ energy }) => energy.net_j !== null && !energy.net_resolved);
  if (open.length > 0) {
    notes.push({
      code: 'net_not_resolved',
      text: `Net energy not resolved in ${many(open.length, 'cell')}: its interval includes 0, so net ratios are left out.`,
    });
  }
  return notes;
}

/** What a reader might miss or take for measured, in plain sentences. */
export const notMeasured = (draft: Draft): NotMeasured[] => [
  ...powerMissing(draft),
  ...endpointsElsewhere(draft),
  ...scopesMissing(draft),
  ...runMissing(draft),
  ...spreadMissing(draft),
];
