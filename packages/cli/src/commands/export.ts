import { relative, resolve } from 'node:path';
import { type ExportFormat, exportFormats, exportRun, type ViewName, viewNames } from '@perwatt/records';
import { Command, Option } from 'commander';
import type { Io } from '../io.js';
import { printTorn } from '../torn.js';

interface ExportFlags {
  readonly format: ExportFormat;
  readonly out: string;
  readonly table?: readonly ViewName[];
  readonly json?: boolean;
}

const examples = `
Formats:
  parquet      one file a table, compressed; for pandas, polars, DuckDB, Spark
  arrow        one Arrow IPC file a table
  csv          with a header; a text that a spreadsheet would take for a formula gets a quote (') in front
  json         one JSON object a line (.jsonl)
  huggingface  a folder that datasets.load_from_disk opens, one split a table

An imported run has one table, published; a training run train_steps, train_evals, samples and channels.

Examples:
  perwatt export runs/<id> --format parquet --out /tmp/tables
  perwatt export runs/<id> --format csv --table queries --table cells --out /tmp/sheets`;

/** `perwatt export`: the tables of a run as files for other tools. */
export const exportCommand = (io: Io): Command =>
  new Command('export')
    .description('Write the tables of a run as files for other tools')
    .argument('<run>', 'run folder')
    .addOption(
      new Option('--format <format>', 'kind of the files').choices([...exportFormats]).makeOptionMandatory(),
    )
    .requiredOption('--out <dir>', 'folder for the files; files of the same names are replaced')
    .addOption(new Option('--table <name...>', 'tables to write; default: all').choices([...viewNames]))
    .option('--json', 'print what was written as JSON')
    .addHelpText('after', examples)
    .action(async (path: string, { format, out, table, json }: ExportFlags) => {
      const tables = table === undefined ? {} : { tables: table };
      const { files, torn } = await exportRun(resolve(io.cwd, path), {
        format,
        out: resolve(io.cwd, out),
        ...tables,
      });
      printTorn(io, torn);
      if (json) return io.print(JSON.stringify({ files, torn }));
      for (const file of files)
        io.print(`${relative(io.cwd, file.path)}: ${file.rows} rows, ${file.bytes} bytes`);
    });
