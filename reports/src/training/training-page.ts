import { publishedFor } from '@perwatt/metrics';
import { DASH, formatJoules, formatNumber } from '../format.js';
import { type Html, html } from '../html.js';
import { figureBlock, figuresOf } from '../site/figure-block.js';
import type { SitePage } from '../site/site-page.js';
import { headsOf, scrollTable } from '../site/site-parts.js';
import { phaseAccounts } from './phase-account.js';
import type { TrainingAccount, TrainingFigure, TrainingReport } from './training-account.js';
import { curveFigure, queryFigure } from './training-figures.js';

/**
 * The page of training runs: what each cost and gained, learning curves over joules, queries before and after, ablations, and
 * what may be claimed. Null where there is no training.
 */
export function trainingPage(reports: readonly TrainingReport[]): SitePage | null {
  const accounts = namedApart(reports);
  if (accounts.length === 0) return null;
  const estimated = reports.some(({ energy }) => energy.provenance === 'estimated');
  const drawing = { estimated, names: accounts.map(({ facts }) => facts.name) };
  const joules = curveFigure(accounts, 'energy_j', drawing);
  const actions = curveFigure(
    accounts.filter(({ facts }) => facts.effort === 'env_actions'),
    'env_actions',
    drawing,
  );
  const tokens = curveFigure(
    accounts.filter(({ facts }) => facts.effort === 'tokens'),
    'tokens',
    drawing,
  );
  const cpu = joules === null ? curveFigure(accounts, 'cpu_s', drawing) : null;
  const queries = queryFigure(accounts, drawing);
  const mark = estimated ? '~' : '';
  const body = html`<p>Small real policies, trained on this machine with its power measured all the while. They show how a method works and what its steps cost here; they say nothing of the size of its effect on a large model.</p>
${estimated ? html`<p class="soft">~ energy is estimated from CPU load: no counter was readable.</p>` : html``}
${costTable(accounts, mark)}
${phaseTable(accounts, mark)}
${figureBlock(joules, { title: 'Learning curves over joules', note: 'Mean held-out accuracy over seeds with its 95 % interval; energy of training alone, evaluations left out.' })}
${figureBlock(cpu, { title: 'Learning curves over CPU time', note: 'Nothing was metered: CPU time of the training threads stands in for joules.' })}
${figureBlock(actions, { title: 'Learning curves over environment actions', note: 'Actions of teachers and replays are counted too.' })}
${figureBlock(tokens, { title: 'Learning curves over tokens', note: 'All tokens of rollouts.' })}
${figureBlock(queries, { title: 'Before and after', note: 'Open marks: the policy before training, with one attempt and with votes. Full marks: one attempt after training. Left and up is better.' })}
${ablations(accounts)}
${claims(accounts)}
${published(accounts)}
${ledgers(reports, mark)}`;
  return {
    id: 'training',
    title: 'Training',
    body,
    figures: figuresOf(joules, cpu, actions, tokens, queries),
  };
}

/** All accounts; where several runs have a training of one name, each bears its run's name too. */
function namedApart(reports: readonly TrainingReport[]): TrainingAccount[] {
  const all = reports.flatMap(({ accounts }) => accounts.map(({ facts }) => facts.name));
  const isTwice = (name: string) => all.indexOf(name) !== all.lastIndexOf(name);
  return reports.flatMap(({ accounts, manifest }) =>
    accounts.map((own) => {
      const { name } = own.facts;
      return isTwice(name) ? { ...own, facts: { ...own.facts, name: `${manifest.run_id}: ${name}` } } : own;
    }),
  );
}

const percent = (value: number | null): string => (value === null ? DASH : `${formatNumber(100 * value)} %`);

/** A figure with its bounds, or why there is none. */
function figureCell({ value, lo, hi, reason }: TrainingFigure, text: (value: number) => string): Html {
  if (value === null) return html`<td class="soft">${reason ?? 'unknown'}</td>`;
  const bounds = lo === null || hi === null ? html`` : html`<small>${text(lo)} … ${text(hi)}</small>`;
  return html`<td class="n">${text(value)}${bounds}</td>`;
}

function costTable(accounts: readonly TrainingAccount[], mark: string): Html {
  const joules = (value: number) => `${mark}${formatJoules(value)}`;
  const signed = (value: number) => `${value > 0 ? '+' : ''}${formatNumber(value)}`;
  const rows = accounts.map(
    (
      own,
    ) => html`<tr><th scope="row">${own.facts.name}<small>${own.facts.title}, ${own.facts.seeds.length} seeds</small></th>
<td class="n">${percent(own.accuracy_before)} → ${percent(own.accuracy_after)}</td>${figureCell(own.accuracy_gain_pp, signed)}${figureCell(own.training_energy_j, joules)}${figureCell(own.training_net_j, joules)}${figureCell(own.evaluation_energy_j, joules)}${figureCell(own.energy_per_point_j, joules)}<td>${breakEven(own)}</td></tr>`,
  );
  const heads = headsOf([
    'training',
    '>accuracy|held out',
    '>gain|points',
    '>training|all seeds',
    '>net|of the idle host',
    '>evaluation|apart',
    '>energy per point|one seed',
    'break-even|queries',
  ]);
  return html`<section><h2>What it cost</h2>
${scrollTable(heads, rows, { label: 'Cost of each training' })}
<p class="soft small">Training energy holds rollouts, verification, rejected updates and teachers. Net: less what the idle host draws, metered before and after; a net energy that is not told apart from 0 means that the host was as busy with other work then. Energy per point is told only where the interval of the gain lies above 0. Break-even: queries after which the training of one seed has paid for itself against the cheapest untrained strategy that is as accurate.</p></section>`;
}

/** What each phase of a training cost a seed; empty where none has any. */
function phaseTable(accounts: readonly TrainingAccount[], mark: string): Html {
  const joules = (value: number) => `${mark}${formatJoules(value)}`;
  const signed = (value: number) => `${value > 0 ? '+' : ''}${formatNumber(value)}`;
  const rows = accounts.flatMap((account) =>
    phaseAccounts(account).map(
      (own) =>
        html`<tr><th scope="row">${account.facts.name}: ${own.name}<small>steps ${own.from + 1} to ${own.to}</small></th>
<td class="n">${percent(own.accuracy_before)} → ${percent(own.accuracy_after)}</td>${figureCell(own.accuracy_gain_pp, signed)}<td class="n">${formatNumber(own.tokens)}</td><td class="n">${own.cpu_s === null ? DASH : formatNumber(own.cpu_s)}</td><td class="n">${own.energy_j === null ? DASH : joules(own.energy_j)}</td>${figureCell(own.energy_per_point_j, joules)}</tr>`,
    ),
  );
  if (rows.length === 0) return html``;
  const heads = headsOf([
    'phase',
    '>accuracy|held out',
    '>gain|points',
    '>tokens|one seed',
    '>CPU time|s, one seed',
    '>training|one seed',
    '>energy per point|one seed',
  ]);
  return html`<section><h2>Phases</h2>
${scrollTable(heads, rows, { label: 'Cost and gain of each phase' })}</section>`;
}

function breakEven({
  break_even_queries: { value, lo, hi, reason },
  break_even_against,
}: TrainingAccount): Html {
  if (value === null) return html`<small class="wrap">${reason ?? 'unknown'}</small>`;
  const bounds = lo === null || hi === null ? html`` : html`${formatNumber(lo)} … ${formatNumber(hi)}; `;
  return html`${formatNumber(value)}<small class="wrap">${bounds}against ${break_even_against ?? 'nothing'}</small>`;
}

/** Trainings of one recipe, or of a recipe and its baselines, that differ in parameters. */
function ablations(accounts: readonly TrainingAccount[]): Html {
  const recipes = [...new Set(accounts.map(({ facts }) => facts.recipe))];
  const rows = recipes.flatMap((recipe) => {
    const own = accounts.filter(({ facts }) => facts.recipe === recipe);
    return own.length < 2 ? [] : own.map((account) => ablationRow(account, own));
  });
  if (rows.length === 0) return html``;
  const heads = headsOf([
    'training',
    'differs in',
    '>accuracy|after',
    '>gain|points',
    '>tokens|all seeds',
    '>taken back|updates',
  ]);
  return html`<section><h2>Ablations</h2>${scrollTable(heads, rows, { label: 'Trainings of one recipe with other parameters' })}</section>`;
}

function ablationRow(
  { facts, accuracy_after, accuracy_gain_pp, totals }: TrainingAccount,
  group: readonly TrainingAccount[],
): Html {
  const names = Object.keys(facts.params).filter(
    (name) => new Set(group.map((own) => own.facts.params[name])).size > 1,
  );
  const differs = names.map((name) => `${name}=${facts.params[name]}`).join(', ');
  return html`<tr><th scope="row">${facts.name}</th><td>${differs === '' ? 'nothing' : differs}</td><td class="n">${percent(accuracy_after)}</td>${figureCell(accuracy_gain_pp, (value) => formatNumber(value))}<td class="n">${totals.tokens}</td><td class="n">${totals.rejected_updates}</td></tr>`;
}

type Claim = TrainingAccount['facts']['claims'][number];

/** A text of a page in Markdown as plain text. */
const plainText = (text: string): string => text.replaceAll('`', '');

function claims(accounts: readonly TrainingAccount[]): Html {
  // The first training of a recipe tells its claims.
  const recipes = new Map([...accounts].reverse().map(({ facts }) => [facts.recipe, facts.claims]));
  const rowsOf = (status: Claim['status']) =>
    [...recipes]
      .reverse()
      .flatMap(([recipe, own]) =>
        own
          .filter((claim) => claim.status === status)
          .map(
            ({ text, note }) =>
              html`<tr><th scope="row">${recipe}</th><td>${plainText(text)}${note === undefined ? html`` : html`<small class="wrap">${plainText(note)}</small>`}</td></tr>`,
          ),
      );
  const part = (
    status: Claim['status'],
    { head, note }: { readonly head: string; readonly note: string },
  ) => {
    const rows = rowsOf(status);
    if (rows.length === 0) return html``;
    return html`<h3>${head}</h3>${scrollTable(headsOf(['recipe', 'claim']), rows, { label: head })}<p class="soft small">${note}</p>`;
  };
  const parts = [
    part('supported', {
      head: 'Supported here',
      note: 'Asserted by the tests of the recipe over fixed seeds: differences by at least twice the deviation of seeds where nothing else is noted, bounds as they stand. A note says where less is claimed than was set out before anything was measured, what was seen, and why.',
    }),
    part('not_supported', {
      head: 'Not supported here',
      note: 'The recipe can not show it, or shows the contrary.',
    }),
  ];
  if ([...recipes.values()].every((own) => own.length === 0)) return html``;
  return html`<section><h2>What may be claimed</h2>${parts}</section>`;
}

/** Methods of the published figures, by recipe. */
const methods: Readonly<Record<string, string>> = {
  selfcest: 'delegate',
  sat: 'team_vote',
  ovcsd: 'env_react',
  multiagent_ft: 'debate',
  dsm_verifier: 'prove_verify_refine',
  absolute_zero: 'propose_solve',
  router_fit: 'route_learned',
};

function published(accounts: readonly TrainingAccount[]): Html {
  const recipes = [...new Set(accounts.map(({ facts }) => facts.recipe))];
  const rows = recipes.flatMap((recipe) =>
    publishedFor(methods[recipe] ?? '').map(
      (own) =>
        html`<tr><th scope="row">${recipe}</th><td>${own.system}</td><td>${own.model}</td><td>${own.dataset}</td><td class="n">${own.value}</td><td>${own.cost ?? DASH}</td><td><small>${own.tag}: ${own.source}</small></td></tr>`,
    ),
  );
  if (rows.length === 0) return html``;
  const heads = headsOf(['recipe', 'system', 'model', 'data set', '>published', 'cost', 'read in']);
  return html`<section><h2>Published reference</h2>
<p class="soft">What the authors of the methods, or others, published for large models. Not measured here, in no chart above, and without joules: nobody published any.</p>
${scrollTable(heads, rows, { label: 'Published figures, not measured here' })}</section>`;
}

function ledgers(reports: readonly TrainingReport[], mark: string): Html {
  const joules = (value: number | null) => (value === null ? DASH : `${mark}${formatJoules(value)}`);
  const rows = reports.flatMap(({ manifest, energy }) =>
    energy.ledgers.map(
      (own) =>
        html`<tr><th scope="row">${manifest.run_id}<small>${own.domain}, ${energy.provenance ?? 'unknown'}</small></th><td class="n">${joules(own.meter_j)}</td><td class="n">${joules(own.steps_j)}</td><td class="n">${joules(own.evals_j)}</td><td class="n">${joules(own.start_j)}</td><td class="n">${joules(own.votes_j)}</td><td class="n">${joules(own.other_j)}</td><td>${own.reason ?? ''}</td></tr>`,
    ),
  );
  if (rows.length === 0)
    return html`<section><h2>Where the energy went</h2><p class="soft">Nothing was metered.</p></section>`;
  const heads = headsOf([
    'run',
    '>meter',
    '>training steps',
    '>evaluations',
    '>starting|threads',
    '>votes|and warm-up',
    '>other',
    'unknown because',
  ]);
  return html`<section><h2>Where the energy went</h2>
${scrollTable(heads, rows, { label: 'Energy by what it was spent on' })}
<p class="soft small">The parts add up to the meter. Votes: what more attempts of the policy reach before and after training, and a first evaluation that only warms code up. Threads that train side by side share the energy of the time they share.</p></section>`;
}
