import { PerwattError } from '@perwatt/core';
import {
  type CellPart,
  type ComparableCell,
  cellParts,
  chosenMetrics,
  figureLines,
  figureRecords,
  figuresCsv,
  figuresGrid,
  figuresNotes,
  gridMarkdown,
  type PartFigures,
  partFigures,
  phaseFigures,
} from '@perwatt/reports';
import { Command, Option } from 'commander';
import type { Io } from '../io.js';
import {
  catalogueWith,
  cellsOf,
  commaList,
  gridLines,
  type OpenedCells,
  openAnyRun,
} from '../open-comparable.js';

/** Cells that were passed over, and repeats that the data ended. */
const runNotes = ['skipped', 'stopped_by_data'];

interface ResultsFlags {
  readonly metric?: string;
  readonly by: CellPart;
  readonly sort?: string;
  readonly where?: readonly string[];
  readonly format: 'table' | 'md' | 'csv' | 'json';
  readonly json?: boolean;
}

const examples = `
A figure stands on a line of its own: value, interval, the bounds of the sensors alone, spread between repeats, how many
queries or calls are behind it, where its energy comes from, and the verdict of its cell. Of a run imported from others
the same, as they published it.

By phase there is one figure, energy_j. A subject's or a repeat's figures are those of whole cells, over its queries.

Examples:
  perwatt results runs/<id>
  perwatt results runs/<id> --metric ipj_per_j,accuracy --by repeat --where dataset=arithmetic
  perwatt results runs/<id> --sort ipj_per_j --format md
  perwatt results runs/ml-energy --metric energy_per_output_token_j --where accelerator=B200 --format csv`;

/** `perwatt results`: the figures of a run with everything that belongs to them. */
export const resultsCommand = (io: Io): Command =>
  new Command('results')
    .description('Print the figures of a run, with intervals, sensor bounds, provenance and verdicts')
    .argument('<run>', 'run folder, measured or imported')
    .option('--metric <ids>', 'metrics, parted by commas, or `all`')
    .addOption(new Option('--by <part>', 'whole cells or parts of them').choices(cellParts).default('cell'))
    .option('--sort <name>', 'metric (best first) or axis; default: the order of the report')
    .option('--where <axis=value...>', 'only cells with that value')
    .addOption(new Option('--format <form>', 'form').choices(['table', 'md', 'csv', 'json']).default('table'))
    .option('--json', 'the same as --format json')
    .addHelpText('after', examples)
    .action(async (path: string, flags: ResultsFlags) => {
      const opened = openAnyRun(path, io);
      const found = await cellsOf(opened, catalogueWith(undefined, io.cwd), 'skip');
      for (const line of printed(found, flags, io)) io.print(line);
    });

function entriesOf({ opened, results, cells }: OpenedCells, by: CellPart): PartFigures[] {
  if (by === 'cell') return cells.map((cell) => ({ cell, part: null, figures: cell.figures }));
  if (opened.kind === 'published' || results === null)
    throw new PerwattError('INPUT_INVALID', `published figures have no ${by} to split them by`);
  return by === 'phase' ? phaseFigures(results, cells) : partFigures(opened.run, cells, by);
}

function metricsFor(cells: readonly ComparableCell[], { metric, by }: ResultsFlags): readonly string[] {
  if (by === 'phase') return ['energy_j'];
  if (metric === 'all') return [...new Set(cells.flatMap(({ figures }) => Object.keys(figures)))];
  return chosenMetrics(cells, commaList(metric), '');
}

function printed(found: OpenedCells, flags: ResultsFlags, io: Io): string[] {
  const { by, where = [], sort = null } = flags;
  const metrics = metricsFor(found.cells, flags);
  const lines = figureLines(entriesOf(found, by), { metrics, where, sort });
  const format = flags.json === true ? 'json' : flags.format;
  if (format === 'json') return [JSON.stringify(document(found, lines, by), null, 2)];
  if (format === 'csv') return figuresCsv(lines, by);
  if (lines.length === 0) return ['no figures', ...notesOf(found, runNotes)];
  const grid = figuresGrid(lines, by);
  const notes = [...figuresNotes(lines), ...notesOf(found, runNotes)];
  return format === 'md'
    ? [...gridMarkdown(grid), '', ...notes.map((note) => `- ${note}`)]
    : [...gridLines(grid, io), '', ...notes];
}

/** Notes of a run by their codes. */
const notesOf = ({ results }: Pick<OpenedCells, 'results'>, codes: readonly string[]): string[] =>
  (results?.not_measured ?? []).filter(({ code }) => codes.includes(code)).map(({ text }) => text);

/** Figures, and each cell's verdict with its reasons and what physics says of it. */
function document({ results, cells }: OpenedCells, lines: Parameters<typeof figureRecords>[0], by: CellPart) {
  const asked = new Set(lines.map(({ entry }) => entry.cell.record));
  const physics = new Map(
    results?.cells.map((cell) => [`${results.run_id}/${cell.cell_id}`, cell.physics]) ?? [],
  );
  return {
    metric_spec_version: results?.metric_spec_version ?? null,
    skipped: notesOf({ results }, ['skipped']),
    stopped_by_data: notesOf({ results }, ['stopped_by_data']),
    cells: cells
      .filter(({ record }) => asked.has(record))
      .map(({ record, axes, tier, verdict }) => ({
        record,
        tier,
        axes,
        verdict,
        physics: physics.get(record) ?? null,
      })),
    figures: figureRecords(lines, by),
  };
}
