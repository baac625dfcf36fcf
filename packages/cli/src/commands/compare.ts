import { PerwattError } from '@perwatt/core';
import {
  blocksMarkdown,
  type ComparableCell,
  type CompareOptions,
  compareCells,
  compareFronts,
  compareYears,
  comparisonCsv,
  comparisonGrid,
  comparisonHead,
  comparisonMarkdown,
  comparisonNotes,
  frontBlock,
  frontsCsv,
  type TextBlock,
  yearBlocks,
} from '@perwatt/reports';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from '../io.js';
import { catalogueWith, cellsOf, commaList, gridLines, openAnyRun } from '../open-comparable.js';

interface CompareFlags {
  readonly by?: string;
  readonly metric?: string;
  readonly baseline?: string;
  readonly match?: string;
  readonly where?: readonly string[];
  readonly allowMixed?: boolean;
  readonly correction: 'holm' | 'none';
  readonly pareto?: string;
  readonly reference?: readonly number[];
  readonly catalogue?: string;
  readonly format: 'table' | 'md' | 'csv' | 'json';
  readonly json?: boolean;
}

const examples = `
Cells that agree on every other axis are compared with the baseline: pairwise on shared items and repeats where there are
any (McNemar for right-or-wrong answers), by their own intervals otherwise. A verdict is one of
  different                      the interval and the bounds of the sensors exclude no difference
  within noise                   they don't, or fewer than 3 repeats tell no spread of energy
  not resolved by the sensors    only the interval does
Figures of different boundary, provenance or workload are refused unless --allow-mixed; then each is marked.
By strategy or load there is no ranking by IPW: it depends on load.

Axes: those of the matrix, or the knobs of imported results; run (the same point in several runs), record (records of one
configuration), and year (release of model and accelerator, with the gain split between them).

Examples:
  perwatt compare runs/<id> --by model
  perwatt compare runs/<a> runs/<b> --by accelerator --baseline m4-max --metric ipj_per_j,accuracy
  perwatt compare runs/<id> --pareto accuracy,energy_per_query_j
  perwatt compare runs/<a> runs/<b> --by year --metric ipw_per_w
  perwatt compare runs/ml-energy --by record --metric energy_per_output_token_j`;

/** `perwatt compare`: cells of one or more runs against each other, with verdicts. */
export const compareCommand = (io: Io): Command =>
  new Command('compare')
    .description('Compare cells of runs along one axis, with verdicts; fronts; gains over the years')
    .argument('<runs...>', 'run folders, measured or imported')
    .option('--by <axis>', 'axis to compare by')
    .option('--metric <ids>', 'metrics, parted by commas')
    .option('--baseline <value>', 'value of the axis that others are compared with; default: the first')
    .option('--match <axes>', 'axes that must agree, parted by commas; default: all others')
    .option('--where <axis=value...>', 'only cells with that value')
    .option(
      '--allow-mixed',
      'compare across boundaries, provenances and workloads, and mark every such figure',
    )
    .addOption(
      new Option('--correction <method>', 'of p for many comparisons')
        .choices(['holm', 'none'])
        .default('holm'),
    )
    .option('--pareto <metrics>', 'front of two or three metrics, parted by commas')
    .option('--reference <numbers>', 'reference point of the hypervolume, one number a metric', numberList)
    .option('--catalogue <file>', 'your own models and accelerators, for --by year')
    .addOption(new Option('--format <form>', 'form').choices(['table', 'md', 'csv', 'json']).default('table'))
    .option('--json', 'the same as --format json')
    .addHelpText('after', examples)
    .action(async (paths: readonly string[], flags: CompareFlags) => {
      if ((flags.by === undefined) === (flags.pareto === undefined))
        throw new PerwattError('USAGE', 'give either --by or --pareto');
      const catalogue = catalogueWith(flags.catalogue, io.cwd);
      const cells: ComparableCell[] = [];
      for (const path of paths) cells.push(...(await cellsOf(openAnyRun(path, io), catalogue, 'read')).cells);
      const asked = filtered(cells, flags.where ?? []);
      for (const line of linesOf(asked, flags, io)) io.print(line);
    });

function numberList(text: string): readonly number[] {
  const numbers = text.split(',').map(Number);
  if (numbers.length === 0 || !numbers.every(Number.isFinite))
    throw new InvalidArgumentError('give numbers parted by commas');
  return numbers;
}

function filtered(cells: readonly ComparableCell[], where: readonly string[]): ComparableCell[] {
  const pairs = where.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new PerwattError('USAGE', `--where ${text} is no axis=value`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  const kept = cells.filter(({ axes }) => pairs.every(([axis, value]) => axes[axis] === value));
  if (kept.length === 0)
    throw new PerwattError('INPUT_INVALID', `no cell with ${where.join(' and ') || 'anything in it'}`);
  return kept;
}

function linesOf(cells: readonly ComparableCell[], flags: CompareFlags, io: Io): string[] {
  if (flags.pareto !== undefined) return frontLines(cells, flags.pareto, { flags, io });
  if (flags.by === 'year') return yearLines(cells, flags, io);
  return comparisonLines(cells, flags.by ?? '', { flags, io });
}

const formOf = ({ json, format }: CompareFlags) => (json === true ? 'json' : format);
const jsonOf = (value: unknown): string[] => [JSON.stringify(value, null, 2)];

interface Call {
  readonly flags: CompareFlags;
  readonly io: Io;
}

function comparisonLines(cells: readonly ComparableCell[], by: string, { flags, io }: Call): string[] {
  const [metrics, match] = [commaList(flags.metric), commaList(flags.match)];
  const options: CompareOptions = {
    by,
    correction: flags.correction,
    allow_mixed: flags.allowMixed === true,
    ...(metrics === undefined ? {} : { metrics }),
    ...(match === undefined ? {} : { match }),
    ...(flags.baseline === undefined ? {} : { baseline: flags.baseline }),
  };
  const comparison = compareCells(cells, options);
  switch (formOf(flags)) {
    case 'json':
      return jsonOf(comparison);
    case 'csv':
      return comparisonCsv(comparison);
    case 'md':
      return comparisonMarkdown(comparison);
    default:
      return [
        ...comparisonHead(comparison),
        ...gridLines(comparisonGrid(comparison), io),
        '',
        ...comparisonNotes(comparison),
      ];
  }
}

const blockLines = (blocks: readonly TextBlock[], io: Io): string[] =>
  blocks.flatMap(({ head, grid, notes }, i) => [
    ...(i > 0 ? [''] : []),
    ...head,
    ...gridLines(grid, io),
    ...notes,
  ]);

function frontLines(cells: readonly ComparableCell[], pareto: string, { flags, io }: Call): string[] {
  const fronts = compareFronts(cells, {
    metrics: commaList(pareto) ?? [],
    allow_mixed: flags.allowMixed === true,
    ...(flags.reference === undefined ? {} : { reference: flags.reference }),
  });
  if (formOf(flags) === 'json') return jsonOf(fronts);
  if (formOf(flags) === 'csv') return frontsCsv(fronts);
  const blocks = fronts.map(frontBlock);
  return formOf(flags) === 'md' ? blocksMarkdown(blocks) : blockLines(blocks, io);
}

function yearLines(cells: readonly ComparableCell[], flags: CompareFlags, io: Io): string[] {
  const metrics = commaList(flags.metric) ?? ['ipw_per_w'];
  const years = metrics.map((metric) => compareYears(cells, metric));
  if (formOf(flags) === 'json') return jsonOf(years);
  if (formOf(flags) === 'csv')
    throw new PerwattError('USAGE', 'gains over the years have no CSV; use --format json');
  const blocks = years.flatMap((year, i) => {
    const own = yearBlocks(year);
    return i < years.length - 1 ? own.slice(0, -1) : own;
  });
  return formOf(flags) === 'md' ? blocksMarkdown(blocks) : blockLines(blocks, io);
}
