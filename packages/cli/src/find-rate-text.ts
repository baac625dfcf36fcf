import type { SearchFile, SearchTrial } from './find-rate-file.js';
import { textTable } from './text-table.js';

const dash = '–';
const figure = (value: number | null, digits: number) => (value === null ? dash : value.toFixed(digits));
const share = (value: number | null) => (value === null ? dash : `${(value * 100).toFixed(2)} %`);
const rate = (value: number) => `${Number(value.toPrecision(4))}/s`;

/** One trial in one line, for a run that is followed. */
export const trialLine = (trial: SearchTrial): string =>
  `trial ${trial.trial}: ${rate(trial.rate_per_s)}, ${share(trial.good_fraction)} good: ${trial.passed ? 'meets the limits' : 'does not meet the limits'}`;

/** How a search ended, in words; null while it goes on. */
export function searchVerdict({ end, search, trials }: SearchFile): string | null {
  if (end === null) return null;
  const passes = end.rate_per_s === null ? '' : rate(end.rate_per_s);
  const fails = end.fails_per_s === null ? '' : rate(end.fails_per_s);
  switch (end.verdict) {
    case 'found':
      return `${passes} is the highest rate that meets the limits, within ${search.tolerance_ratio * 100} %: ${fails} does not`;
    case 'lowest_fails':
      return `no rate of the bracket meets the limits: even ${fails}, the lowest, does not`;
    case 'highest_passes':
      return `every rate of the bracket meets the limits: even ${passes}, the highest, does`;
    case 'trials_spent':
      return spentText({ passes, fails, trials: trials.length });
  }
}

function spentText({
  passes,
  fails,
  trials,
}: Record<'passes' | 'fails', string> & { trials: number }): string {
  const known = [passes && `${passes} meets the limits`, fails && `${fails} does not`]
    .filter(Boolean)
    .join(', ');
  return `not found in ${trials} trials${known === '' ? '' : `: ${known}`}`;
}

/** The trials whose rates fail that may have failed for the client's sake. */
const clientLimited = ({ end, trials }: SearchFile): SearchTrial[] =>
  trials.filter((own) => own.rate_per_s === end?.fails_per_s && !own.passed && own.client_limited.length > 0);

/** The result of a search as lines: its trials from the lowest rate to the highest, and its verdict. */
export function searchLines(file: SearchFile, width: number): string[] {
  const columns = ['rate', 'sent/s', 'calls', 'good', 'goodput/s', 'J/call', 'J/token', 'limits'].map(
    (name, i) => ({ name, right: i < 7 }),
  );
  const rows = file.trials
    .toSorted((a, b) => a.rate_per_s - b.rate_per_s || a.trial - b.trial)
    .map((own) => [
      rate(own.rate_per_s),
      figure(own.achieved_per_s, 2),
      String(own.calls),
      share(own.good_fraction),
      figure(own.goodput_per_s, 2),
      figure(own.energy_per_call_j, 4),
      figure(own.energy_per_output_token_j, 5),
      own.passed ? 'met' : 'not met',
    ]);
  const verdict = searchVerdict(file);
  const limited = clientLimited(file);
  return [
    ...textTable(columns, rows, width),
    '',
    ...(verdict === null ? [] : [`verdict   ${file.end?.verdict}: ${verdict}`]),
    `limits    ${file.flags.slo}; met where ${file.good_share * 100} % of all calls are good, failed ones not`,
    ...(limited.length === 0
      ? []
      : [`client    client_limited at the rate that fails: ${limited[0]?.client_limited.join('; ')}`]),
  ];
}
