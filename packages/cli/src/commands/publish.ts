import { mkdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { openRun } from '@perwatt/records';
import {
  drawFigures,
  type PublicationOptions,
  type PublishedSource,
  readPlotlySource,
  writePublication,
} from '@perwatt/reports';
import { Command } from 'commander';
import { computeResults } from '../compute-results.js';
import { CHROMIUM_HINT, findChromium } from '../find-chromium.js';
import type { Io } from '../io.js';
import { addRedactions, redactedRun, redactionLine, refuseDamaged, withScratch } from '../redacted-run.js';
import { writeRunsReport } from '../runs-report.js';

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

async function publish(paths: readonly string[], flags: PublishFlags, { io, scratch }: Place): Promise<void> {
  const runs = paths.map((path) => openRun(resolve(io.cwd, path)));
  const sources: PublishedSource[] = [];
  let redactions = { hosts: 0, users: 0, home_paths: 0, secrets: 0 };
  for (const { path } of runs) refuseDamaged(path);
  for (const [i, run] of runs.entries()) {
    const root = join(scratch, String(i));
    mkdirSync(root);
    const texts = flags.texts ? 'keep' : 'drop';
    const redacted = redactedRun(run, root, { io, keep: flags.keep ?? [], texts });
    redactions = addRedactions(redactions, redacted.redactions);
    sources.push({ run: redacted.run, results: await computeResults(redacted.run) });
  }
  const out = resolve(io.cwd, flags.out);
  const drawing = await drawingOf(flags, io);
  await writePublication(out, sources, {
    title: flags.title ?? sources.map(({ results }) => results.name).join(', '),
    authors: flags.author ?? [],
    licence: flags.licence ?? null,
    url: flags.url ?? null,
    redacted: { ...redactions, texts: !flags.texts },
    ...drawing,
    report: writeRunsReport,
  });
  const { missing } = drawing;
  if (flags.json)
    return io.print(
      JSON.stringify({ out, runs: sources.map(({ results }) => results.run_id), redactions, missing }),
    );
  for (const text of missing) io.printError(`warning: ${text}`);
  io.print(redactionLine(redactions));
  io.print(`publication: ${relative(io.cwd, out) || '.'}`);
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
