import { mkdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { PerwattError } from '@perwatt/core';
import type { RunFolder, TrainingRun } from '@perwatt/records';
import {
  type CitationFacts,
  drawFigures,
  type PublicationOptions,
  type PublishedSource,
  type PublishedTraining,
  type Redactions,
  readPlotlySource,
  reportOf,
  writePublication,
  writeTrainingPublication,
  writeTrainingReport,
} from '@perwatt/reports';
import { Command } from 'commander';
import { computeResults } from '../compute-results.js';
import { CHROMIUM_HINT, findChromium } from '../find-chromium.js';
import type { Io } from '../io.js';
import {
  addRedactions,
  openShared,
  redactedRun,
  redactedTraining,
  redactionLine,
  refuseDamaged,
  withScratch,
} from '../redacted-run.js';
import { writeRunsReport } from '../runs-report.js';
import { trainingClaims } from '../train-text.js';

interface PublishFlags {
  readonly out: string;
  readonly title?: string;
  readonly author?: readonly string[];
  readonly licence?: string;
  readonly url?: string;
  readonly texts: boolean;
  readonly figures: boolean;
  readonly keep?: readonly string[];
  readonly json?: boolean;
}

const help = `
A publication holds the report, results as JSON, CSV and Parquet, figures as SVG, PNG and PDF, the result table in Markdown
and LaTeX, the tables behind it in Parquet, a summary for machines with its JSON Schema, CITATION.cff, a data card, and
SHA256SUMS over all. The same runs give the same bytes.

Trainings have a publication of their own: curves, costs and claims, accounts, steps, evaluations and samples; their checkpoints
are left out, for the seeds give the same ones again. Imported runs are not published again: cite their source.

Taken out of everything: host names, user names, home folders, and keys, tokens and passwords: those that the matrix or the
environment names, and what has the shape of one. --keep leaves a name as it is. --no-texts leaves prompts, completions and
answers out too.

Figures are drawn by Chromium or Chrome, found on the path or by PERWATT_CHROMIUM; without one the rest is published.

Examples:
  perwatt publish runs/<id> --out publication
  perwatt publish runs/<a> runs/<b> --out publication --title "Two laptops" --author "Doe, Jane" --licence CC-BY-4.0
  perwatt publish runs/<id> --out publication --no-texts --keep api.openai.com`;

/** `perwatt publish`: everything that a paper or a purchase needs of runs, with nothing private in it. */
export const publishCommand = (io: Io): Command =>
  new Command('publish')
    .description(
      'Write a publication of runs: report, results, figures, tables, summary, citation, data card, checksums',
    )
    .argument('<runs...>', 'run folders')
    .requiredOption('--out <dir>', 'folder of the publication; must be new or empty')
    .option('--title <text>', 'title of the publication; default: the names of the runs')
    .option('--author <name...>', 'who is to be cited: "Family, Given", or the name of a group')
    .option('--licence <spdx>', 'licence of the publication, by its SPDX id')
    .option('--url <address>', 'where it will be found')
    .option('--keep <name...>', 'names that stay as they are')
    .option('--no-texts', 'leave prompts, completions and answers out')
    .option('--no-figures', 'draw no figures')
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', help)
    .action((paths: readonly string[], flags: PublishFlags) =>
      withScratch((scratch) => publish(paths, flags, { io, scratch })),
    );

interface Place {
  readonly io: Io;
  readonly scratch: string;
}

/** What was taken out of all runs, and the names that stand for them. */
interface Published {
  readonly redactions: Redactions;
  readonly run_ids: readonly string[];
}

const nothing: Redactions = { hosts: 0, users: 0, home_paths: 0, secrets: 0 };

async function publish(paths: readonly string[], flags: PublishFlags, { io, scratch }: Place): Promise<void> {
  const shared = paths.map((path) => openShared(resolve(io.cwd, path)));
  for (const { run } of shared) refuseDamaged(run.path);
  const runs = shared.flatMap((one) => (one.kind === 'matrix' ? [one.run] : []));
  const trainings = shared.flatMap((one) => (one.kind === 'training' ? [one.run] : []));
  if (runs.length > 0 && trainings.length > 0)
    throw new PerwattError('USAGE', 'runs of a matrix and trainings do not go into one publication', {
      hint: `Publish ${trainings[0]?.path} apart, in a folder of its own.`,
    });
  const out = resolve(io.cwd, flags.out);
  const drawing = await drawingOf(flags, io);
  const to = { out, drawing, io, flags, scratch };
  const { redactions, run_ids } =
    trainings.length > 0 ? await publishTrainings(trainings, to) : await publishRuns(runs, to);
  const { missing } = drawing;
  if (flags.json) return io.print(JSON.stringify({ out, runs: run_ids, redactions, missing }));
  for (const text of missing) io.printError(`warning: ${text}`);
  io.print(redactionLine(redactions));
  io.print(`publication: ${relative(io.cwd, out) || '.'}`);
}

interface Target extends Place {
  readonly out: string;
  readonly drawing: Pick<PublicationOptions, 'draw' | 'missing'>;
  readonly flags: PublishFlags;
}

/** What only those who publish can say; the title is the names of the runs unless they say one. */
const saidBy = ({ title, author, licence, url }: PublishFlags, names: readonly string[]): CitationFacts => ({
  title: title ?? names.join(', '),
  authors: author ?? [],
  licence: licence ?? null,
  url: url ?? null,
});

/** A new folder for the copy of the n-th run. */
function copyFolder(scratch: string, n: number): string {
  const root = join(scratch, String(n));
  mkdirSync(root);
  return root;
}

async function publishRuns(
  runs: readonly RunFolder[],
  { out, drawing, io, flags, scratch }: Target,
): Promise<Published> {
  const sources: PublishedSource[] = [];
  let redactions = nothing;
  const options = { io, keep: flags.keep ?? [], texts: flags.texts ? 'keep' : 'drop' } as const;
  for (const [i, run] of runs.entries()) {
    const redacted = redactedRun(run, copyFolder(scratch, i), options);
    redactions = addRedactions(redactions, redacted.redactions);
    sources.push({ run: redacted.run, results: await computeResults(redacted.run) });
  }
  await writePublication(out, sources, {
    ...saidBy(
      flags,
      sources.map(({ results }) => results.name),
    ),
    redacted: { ...redactions, texts: !flags.texts },
    ...drawing,
    report: writeRunsReport,
  });
  return { redactions, run_ids: sources.map(({ results }) => results.run_id) };
}

async function publishTrainings(
  runs: readonly TrainingRun[],
  { out, drawing, io, flags, scratch }: Target,
): Promise<Published> {
  let redactions = nothing;
  const sources = runs.map((run, i): PublishedTraining => {
    const redacted = redactedTraining(run, copyFolder(scratch, i), { io, keep: flags.keep ?? [] });
    redactions = addRedactions(redactions, redacted.redactions);
    const report = reportOf(redacted.run);
    return { run: redacted.run, report, json: trainingClaims(report) };
  });
  const run_ids = sources.map(({ run }) => run.manifest.run_id);
  const plotlySource = await readPlotlySource();
  await writeTrainingPublication(out, sources, {
    ...saidBy(flags, run_ids),
    redacted: { ...redactions, texts: !flags.texts },
    ...drawing,
    report: (reports, folder) => writeTrainingReport(reports, folder, { plotlySource }),
  });
  return { redactions, run_ids };
}

/** How figures are drawn here, and what is said where they can't be. */
async function drawingOf(
  { figures }: PublishFlags,
  io: Io,
): Promise<Pick<PublicationOptions, 'draw' | 'missing'>> {
  if (!figures) return { draw: null, missing: [] };
  const executable = findChromium(io);
  if (executable === null)
    return { draw: null, missing: [`no figures: no Chromium or Chrome was found. ${CHROMIUM_HINT}`] };
  const plotlySource = await readPlotlySource();
  return { draw: (wanted) => drawFigures(wanted, { executable, plotlySource }), missing: [] };
}
