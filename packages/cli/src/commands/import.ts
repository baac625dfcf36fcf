import { resolve } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { figureRows, type Importer, type ImportOptions, importerByKind, importers } from '@perwatt/importers';
import {
  createPublishedRun,
  type PublishedManifest,
  type PublishedWriter,
  readPublished,
} from '@perwatt/records';
import { Command } from 'commander';
import { type OpenedFile, openForeign } from '../foreign-files.js';
import type { Io } from '../io.js';
import { publishedSummary, publishedTable } from '../published-table.js';

interface ImportFlags extends ImportOptions {
  readonly out?: string;
  readonly list?: boolean;
  readonly json?: boolean;
}

const examples = `
A folder stands for the files in it that the importer reads. Figures are kept as published, never as measured here:
each has its source, licence, statistic, scope and what is doubtful about it.

Examples:
  perwatt import --list
  perwatt import ml-energy leaderboard/public/data/tasks --out runs/ml-energy
  perwatt import ecocompute t4.csv rtx5090.csv --out runs/ecocompute
  perwatt import show runs/ml-energy --metric energy_per_output_token_j`;

/** `perwatt import`: results that others published become a run of kind `published`. */
export const importCommand = (io: Io, version: string): Command =>
  new Command('import')
    .description('Import results that others published into a run folder of their own')
    .argument('[kind]', `what the files are: ${importers.map(({ kind }) => kind).join(', ')}`)
    .argument('[files...]', 'files, or folders of them')
    .option('--out <run>', 'folder of the new run')
    .option('--list', 'print what can be imported')
    .option('--model <name>', 'model, for files that do not name it')
    .option('--accelerator <name>', 'device, for files that do not name it')
    .option(
      '--source-version <text>',
      'commit or version of the source, for files that are not known by their bytes',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .addCommand(showCommand(io))
    .action((kind: string | undefined, paths: readonly string[], flags: ImportFlags) =>
      flags.list === true ? printList(io, flags) : importRun(kind, paths, { flags, io, version }),
    );

interface Call {
  readonly flags: ImportFlags;
  readonly io: Io;
  readonly version: string;
}

async function importRun(kind: string | undefined, paths: readonly string[], call: Call): Promise<void> {
  const { flags, io } = call;
  if (kind === undefined) throw new PerwattError('USAGE', 'say what to import; --list shows what can be');
  const importer = importerByKind(kind);
  if (paths.length === 0) throw new PerwattError('USAGE', `give files to import: ${importer.files}`);
  if (flags.out === undefined) throw new PerwattError('USAGE', 'give a folder for the run with --out');
  const files = await openForeign(paths, { cwd: io.cwd, extensions: importer.extensions });
  const path = resolve(io.cwd, flags.out);
  const manifest = await importInto(createPublishedRun(path), importer, { ...call, files });
  if (flags.json === true) return io.print(JSON.stringify({ path, ...manifest }));
  for (const line of publishedSummary(readPublished(path))) io.print(line);
  io.print(`run: ${path}`);
}

const showCommand = (io: Io): Command =>
  new Command('show')
    .description('Print the figures of an imported run')
    .argument('<run>', 'folder of the run')
    .option('--metric <id>', 'one metric only')
    .option('--json', 'print every row as JSON, a line each')
    .action((path: string, _: unknown, command: Command) => {
      show(path, command.optsWithGlobals<ShowFlags>(), io);
    });

interface ShowFlags {
  readonly metric?: string;
  readonly json?: boolean;
}

function show(path: string, { metric, json }: ShowFlags, io: Io): void {
  const run = readPublished(resolve(io.cwd, path));
  for (const { file, reason } of run.torn) io.printError(`${file}: ${reason}`);
  if (run.rows.length === 0) throw new PerwattError('RUN_INVALID', `no row of ${path} can be read`);
  const rows = run.rows.filter((row) => metric === undefined || row.metric === metric);
  if (rows.length === 0) {
    const known = [...new Set(run.rows.map((row) => row.metric))].sort();
    throw new PerwattError('INPUT_INVALID', `no figure ${metric} in ${path}, only ${known.join(', ')}`);
  }
  const text = metric === undefined ? publishedSummary(run) : publishedTable(rows);
  const lines = json === true ? rows.map((row) => JSON.stringify(row)) : text;
  for (const line of lines) io.print(line);
}

function printList(io: Io, { json }: ImportFlags): void {
  if (json === true) {
    io.print(
      JSON.stringify(importers.map(({ kind, version, title, files }) => ({ kind, version, title, files }))),
    );
    return;
  }
  for (const { kind, title, files } of importers) {
    io.print(`${kind.padEnd(14)} ${title}`);
    io.print(`${''.padEnd(14)} files: ${files}`);
  }
}

interface Import extends Call {
  readonly files: readonly OpenedFile[];
}

/** Writes all rows and the manifest; a failure leaves no run behind. */
async function importInto(
  writer: PublishedWriter,
  importer: Importer,
  { files, flags, io, version }: Import,
): Promise<PublishedManifest> {
  const records = new Map<string, number>();
  const versions = new Map<string, string | null>();
  try {
    for await (const record of importer.read(files, optionsOf(flags))) {
      io.signal.throwIfAborted();
      if (record.source_row > 0) records.set(record.path, (records.get(record.path) ?? 0) + 1);
      versions.set(record.path, record.source.version);
      writer.append(figureRows(record, writer.run_id));
    }
    return writer.finish({
      perwatt_version: version,
      importer: { kind: importer.kind, version: importer.version },
      imported: io.wallTime().toISOString(),
      files: files.map(({ path, bytes, sha256 }) => ({
        file: path,
        bytes,
        sha256,
        source_version: versions.get(path) ?? null,
        records: records.get(path) ?? 0,
      })),
    });
  } catch (error) {
    writer.discard();
    throw error;
  }
}

const optionsOf = ({ model, accelerator, sourceVersion }: ImportFlags): ImportOptions => ({
  ...(model === undefined ? {} : { model }),
  ...(accelerator === undefined ? {} : { accelerator }),
  ...(sourceVersion === undefined ? {} : { sourceVersion }),
});
