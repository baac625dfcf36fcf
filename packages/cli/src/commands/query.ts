import { resolve } from 'node:path';
import { csvLine, openQueries, type QueryAnswer, sqlJson, sqlText } from '@perwatt/records';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from '../io.js';
import { textTable } from '../text-table.js';
import { printTorn } from '../torn.js';

interface QueryFlags {
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly threads: number;
}

const MOST_ROWS = 1000;
const WIDTH = 120;

const examples = `
Views:
  queries    one row a query: answer, grade, tokens, times, energy
  calls      one row a request to a model
  texts      prompts, completions and answers
  grades     one row a grading of an answer or attempt: pass, mode, verdict, answer, place, rule
  samples    one row a reading of a power domain, with the file it stands in
  channels   readings beside power: temperatures, clocks, throttling
  cells      one row a cell: its point, verdict, and energies over the domains of the total
  kernels    one row an implementation of a kernel that was run, where any were
  published  one row a figure of an imported run, which has no other view
  train_steps, train_evals  steps and evaluations of a training run, which has samples and channels beside them

The columns of a view: perwatt query RUN "DESCRIBE queries". A run can only be read.

Sums of doubles depend on the order of adding. With one thread, the default, the order is that of the rows, and the same
query gives the same bytes every time. With more threads use exact_sum(x), which adds decimals of 12 places, instead of
sum(x), and ORDER BY.

Examples:
  perwatt query runs/<id> "SELECT model, avg(score), exact_sum(energy_gross_j) FROM queries GROUP BY model ORDER BY model"
  perwatt query runs/<id> --csv "FROM cells" > cells.csv
  perwatt query runs/ml-energy "SELECT accelerator, count(*) FROM published GROUP BY ALL ORDER BY ALL"
  perwatt query runs/<id> --json "SELECT verdict, count(*) AS n FROM queries GROUP BY verdict ORDER BY verdict"`;

/** `perwatt query`: SQL over the tables of a run. */
export const queryCommand = (io: Io): Command =>
  new Command('query')
    .description('Ask a run in SQL')
    .argument('<run>', 'run folder')
    .argument('<sql>', 'one query')
    .addOption(new Option('--json', 'print one JSON object a row').conflicts('csv'))
    .option('--csv', 'print CSV with a header; a text that looks like a formula gets a quote in front')
    .option('--threads <n>', 'threads of the SQL engine', wholeNumber, 1)
    .addHelpText('after', examples)
    .action(async (path: string, sql: string, flags: QueryFlags) => {
      const run = await openQueries(resolve(io.cwd, path), { threads: flags.threads });
      try {
        printTorn(io, run.torn);
        const answer = await run.ask(sql, io.signal);
        if (flags.json) await printJson(io, answer);
        else if (flags.csv) await printCsv(io, answer);
        else await printTable(io, answer);
      } finally {
        run.close();
      }
    });

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 1024)
    throw new InvalidArgumentError('give a whole number from 1 to 1024');
  return value;
}

async function printJson(io: Io, { columns, rows }: QueryAnswer): Promise<void> {
  const keys = columns.map(({ name }) => JSON.stringify(name));
  for await (const some of rows) {
    for (const row of some)
      io.print(`{${row.map((value, i) => `${keys[i] ?? ''}:${sqlJson(value)}`).join(',')}}`);
  }
}

async function printCsv(io: Io, { columns, rows }: QueryAnswer): Promise<void> {
  io.print(csvLine(columns.map(({ name }) => name)));
  for await (const some of rows) for (const row of some) io.print(csvLine(row));
}

const numeric = /INT|DOUBLE|FLOAT|DECIMAL/;

async function printTable(io: Io, { columns, rows }: QueryAnswer): Promise<void> {
  const shown: string[][] = [];
  let total = 0;
  for await (const some of rows) {
    total += some.length;
    for (const row of some.slice(0, Math.max(0, MOST_ROWS - shown.length)))
      shown.push(row.map((value) => (value === null ? '–' : sqlText(value))));
  }
  const heads = columns.map(({ name, type }) => ({
    name,
    right: numeric.test(type) && !type.endsWith('[]'),
  }));
  for (const line of textTable(heads, shown, io.columns ?? WIDTH)) io.print(line);
  const more = total > shown.length ? `; the first ${shown.length} are shown, --csv gives all` : '';
  io.print(`${total} ${total === 1 ? 'row' : 'rows'}${more}`);
}
