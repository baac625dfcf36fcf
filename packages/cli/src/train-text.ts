import {
  formatJoules,
  type PhaseAccount,
  phaseAccounts,
  type TrainingAccount,
  type TrainingFigure,
  type TrainingReport,
} from '@perwatt/reports';
import { figure } from './figure.js';

const marks: Readonly<Record<string, string>> = { estimated: '~', simulated: '†' };

const bounded = ({ value, lo, hi, reason }: TrainingFigure, text: (value: number) => string): string => {
  if (value === null) return reason ?? 'unknown';
  return lo === null || hi === null ? text(value) : `${text(value)} (${text(lo)} to ${text(hi)})`;
};

const points = (value: number): string => `${value > 0 ? '+' : ''}${figure(value, 3)}`;
const percent = (value: number | null): string =>
  value === null ? 'unknown' : `${figure(100 * value, 3)} %`;

/** A training run's account in lines. */
export function accountLines({ accounts, energy, manifest, torn }: TrainingReport): string[] {
  const mark = marks[energy.provenance ?? ''] ?? '';
  const joules = (value: number) => `${mark}${formatJoules(value)}`;
  return [
    ...accounts.flatMap((account) => trainingLines(account, joules)),
    ...energy.ledgers.map((ledger) => ledgerLine(ledger, joules)),
    ...(energy.provenance === null ? ['nothing was metered'] : []),
    ...torn.map((text) => `warning: ${text}`),
    `run ${manifest.run_id}: ${manifest.status}`,
  ];
}

function ledgerLine(ledger: TrainingReport['energy']['ledgers'][number], joules: (value: number) => string) {
  const { domain, meter_j, steps_j, evals_j, start_j, votes_j, other_j, reason } = ledger;
  if (meter_j === null) return `${domain}: unknown: ${reason}`;
  const parts = [
    ['training', steps_j],
    ['evaluation', evals_j],
    ['starting threads', start_j],
    ['votes and warm-up', votes_j],
    ['other', other_j],
  ] as const;
  const texts = parts.map(([name, part]) => `${name} ${part === null ? 'unknown' : joules(part)}`);
  return `${domain}: ${joules(meter_j)} = ${texts.join(' + ')}`;
}

function trainingLines(account: TrainingAccount, joules: (value: number) => string): string[] {
  const { facts, totals, cpu_s } = account;
  const cpu = cpu_s === null ? '' : `, ${figure(cpu_s, 3)} CPU s`;
  const effort =
    facts.effort === 'env_actions'
      ? `${totals.env_actions + totals.privileged_actions} environment actions`
      : `${totals.tokens} tokens`;
  return [
    `${facts.name}: ${facts.title}, ${facts.seeds.length} seeds × ${facts.steps} steps, ${effort}${cpu}`,
    `  accuracy            ${percent(account.accuracy_before)} → ${percent(account.accuracy_after)}: ${bounded(account.accuracy_gain_pp, points)} points`,
    `  training energy     ${bounded(account.training_energy_j, joules)}`,
    `  net of idle host    ${bounded(account.training_net_j, joules)}`,
    `  evaluation energy   ${bounded(account.evaluation_energy_j, joules)}`,
    `  energy per point    ${bounded(account.energy_per_point_j, joules)}`,
    `  break-even          ${breakEvenText(account)}`,
    ...phaseAccounts(account).map((phase) => phaseLine(phase, joules)),
  ];
}

function phaseLine(phase: PhaseAccount, joules: (value: number) => string): string {
  const { name, accuracy_before: before, accuracy_after: after, accuracy_gain_pp: gain } = phase;
  const cpu = phase.cpu_s === null ? '' : `, ${figure(phase.cpu_s, 3)} CPU s`;
  const energy = phase.energy_j === null ? '' : `, ${joules(phase.energy_j)}`;
  const gained = `${percent(before)} → ${percent(after)}: ${bounded(gain, points)} points`;
  return `  phase ${name.padEnd(13)} ${gained}; a seed ${figure(phase.tokens, 3)} tokens${cpu}${energy}; energy per point ${bounded(phase.energy_per_point_j, joules)}`;
}

function breakEvenText({ break_even_queries, break_even_against }: TrainingAccount): string {
  const queries = bounded(break_even_queries, (value) => figure(value, 3));
  if (break_even_queries.value === null) return queries;
  return `${queries} queries against ${break_even_against}`;
}

/** The same for machines. */
export const accountJson = ({
  accounts,
  energy,
  manifest,
  torn,
}: TrainingReport): Readonly<Record<string, unknown>> => ({
  run_id: manifest.run_id,
  status: manifest.status,
  provenance: energy.provenance,
  energy_reason: energy.reason,
  ledgers: energy.ledgers,
  trainings: accounts.map(({ facts, seeds, ...account }) => ({
    name: facts.name,
    recipe: facts.recipe,
    version: facts.version,
    params: facts.params,
    seeds: facts.seeds,
    ...account,
    phases: phaseAccounts({ facts, seeds, ...account }),
  })),
  torn,
});

/** The account as it is claimed in a bundle or a publication. Ends in a newline. */
export const trainingClaims = (report: TrainingReport): string =>
  `${JSON.stringify({ kind: 'training', ...accountJson(report) }, null, 2)}\n`;
