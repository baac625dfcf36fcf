import { resolve } from 'node:path';
import {
  type ChangedFact,
  type ChangedFigure,
  diffResults,
  formatNumber,
  type Grid,
  type ResultsDiff,
} from '@perwatt/reports';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { gridLines } from '../open-comparable.js';
import { storedResults } from '../stored-results.js';

interface DiffFlags {
  readonly metric?: readonly string[];
  readonly json?: boolean;
}

/** Metrics that a look at two publications begins with. */
const usual = [
  'accuracy',
  'power_w',
  'energy_per_query_j',
  'ipw_per_w',
  'ipj_per_j',
  'tokens_per_s',
  'ttft_any_p50_ns',
];

const help = `
Either side is a run folder, a publication, a report, or a results.json. Cells are the same where all axes are. A verdict says
whether a figure differs by more than its interval and the bounds of the sensors; with fewer than three repeats no difference
of energy can be told from the spread between runs.

Exit codes: 0 nothing changed, 1 something did.

Examples:
  perwatt diff old-publication new-publication
  perwatt diff runs/<a> runs/<b> --metric accuracy ipj_per_j
  perwatt diff old/results.json runs/<id> --json`;

/** `perwatt diff`: what parts two publications. */
export const diffCommand = (io: Io): Command =>
  new Command('diff')
    .description(
      'Tell what changed between two publications or runs: cells, figures with verdicts, provenance',
    )
    .argument('<old>', 'run folder, publication, report or results.json')
    .argument('<new>', 'the same')
    .option('--metric <ids...>', 'metrics to tell of, or `all`; default: the usual ones')
    .option('--json', 'print everything that changed as JSON')
    .addHelpText('after', help)
    .action(async (old: string, next: string, flags: DiffFlags) => {
      const [before, after] = [
        await storedResults(resolve(io.cwd, old)),
        await storedResults(resolve(io.cwd, next)),
      ];
      const diff = diffResults(before, after);
      const wanted = new Set(flags.metric ?? usual);
      const figures = wanted.has('all')
        ? diff.figures
        : diff.figures.filter(({ metric }) => wanted.has(metric));
      if (flags.json) io.print(JSON.stringify(diff, null, 2));
      else for (const line of linesOf(diff, figures, io)) io.print(line);
      if (hasChanged(diff)) io.setExitCode(1);
    });

const hasChanged = ({ cells, verdicts, facts, figures }: ResultsDiff): boolean =>
  cells.added.length + cells.removed.length + verdicts.length + facts.length + figures.length > 0;

function linesOf(diff: ResultsDiff, figures: readonly ChangedFigure[], io: Io): string[] {
  if (!hasChanged(diff)) return [`nothing changed: ${diff.cells.shared} cells, ${diff.unchanged} figures`];
  const others = diff.figures.length - figures.length;
  return [
    ...diff.cells.added.map((cell) => `added    ${plain(cell)}`),
    ...diff.cells.removed.map((cell) => `removed  ${plain(cell)}`),
    ...diff.verdicts.map(factLine),
    ...gathered(diff.facts),
    ...(figures.length > 0 ? ['', ...gridLines(gridOf(figures), io)] : []),
    '',
    `${diff.cells.shared} cells in both; ${diff.figures.length} figures changed${others > 0 ? ` (${others} of them not shown: --metric all)` : ''}, ${diff.unchanged} did not`,
  ];
}

/** Names come from files of others: nothing in them steers the terminal. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');

const factLine = ({ where, what, old, new: now }: ChangedFact): string =>
  `changed  ${plain(where)}: ${plain(what)} ${plain(old)} → ${plain(now)}`;

/** The same change of many cells in one line. */
function gathered(facts: readonly ChangedFact[]): string[] {
  const groups = new Map<string, ChangedFact[]>();
  for (const fact of facts) {
    const key = JSON.stringify([fact.what, fact.old, fact.new]);
    groups.set(key, [...(groups.get(key) ?? []), fact]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return [factLine(group.length === 1 ? first : { ...first, where: `${group.length} cells` })];
  });
}

function sideText({ value, lo, hi, reason }: ChangedFigure['old']): string {
  if (value === null) return reason ?? 'none';
  return lo === null || hi === null
    ? formatNumber(value)
    : `${formatNumber(value)} [${formatNumber(lo)}, ${formatNumber(hi)}]`;
}

function effectText({ effect }: ChangedFigure): string {
  if (effect === null) return '';
  const text = (value: number) => formatNumber(value);
  return `${effect.scale === 'ratio' ? '×' : ''}${text(effect.value)} [${text(effect.lo)}, ${text(effect.hi)}]`;
}

const gridOf = (figures: readonly ChangedFigure[]): Grid => ({
  columns: [
    { name: 'cell', right: false, leaves: false },
    { name: 'figure', right: false, leaves: false },
    { name: 'old', right: true, leaves: false },
    { name: 'new', right: true, leaves: false },
    { name: 'new / old', right: true, leaves: true },
    { name: 'verdict', right: false, leaves: false },
  ],
  rows: figures.map((figure) => [
    figure.cell,
    figure.metric,
    sideText(figure.old),
    sideText(figure.new),
    effectText(figure),
    figure.verdict ?? 'not judged',
  ]),
});
