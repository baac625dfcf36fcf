import type { Dataset } from '@perwatt/core';
import { didYouMean, type Item, PerwattError } from '@perwatt/core';
import { type CatalogueEntry, datasetCatalogue, loadDataset } from '@perwatt/datasets';
import { Command, InvalidArgumentError } from 'commander';
import type { Io } from '../io.js';

interface ShowFlags {
  readonly limit: number;
  readonly seed: number;
  readonly level?: number;
  readonly path?: string;
  readonly option?: readonly string[];
  readonly json?: boolean;
}

const examples = `
Examples:
  perwatt datasets list
  perwatt datasets show arithmetic --level 1 --limit 5
  perwatt datasets show choice-basic --seed 7 --json
  perwatt datasets show gsm8k --path test.jsonl
  perwatt datasets show csv --path quiz.csv --option 'fields={"prompt": "question", "gold": "answer"}'`;

/** `perwatt datasets`: what questions there are. */
export const datasetsCommand = (io: Io): Command =>
  new Command('datasets')
    .description('List data sets, and show their questions')
    .addHelpText('after', examples)
    .addCommand(listCommand(io))
    .addCommand(showCommand(io));

const listCommand = (io: Io) =>
  new Command('list')
    .description('List the built-in data sets and the file loaders')
    .option('--json', 'print JSON instead of a table')
    .action((flags: { readonly json?: boolean }) => {
      const entries = datasetCatalogue();
      if (flags.json) return io.print(JSON.stringify(entries, null, 2));
      for (const { id, kind, grader, summary } of entries)
        io.print(`${id.padEnd(18)} ${kind.padEnd(10)} ${grader.padEnd(13)} ${summary}`);
    });

const showCommand = (io: Io) =>
  new Command('show')
    .description(
      'Load a data set and print its facts and first questions; a file loader without --path is explained',
    )
    .argument('<name>', 'name from `perwatt datasets list`')
    .option('--limit <n>', 'questions to print', whole, 3)
    .option('--seed <n>', 'seed of a generated data set', whole, 42)
    .option('--level <n>', 'level of difficulty, where there are levels', whole)
    .option('--path <file>', 'file to read, for file loaders')
    .option(
      '--option <name=value>',
      'further option; the value is JSON or text; may be given several times',
      collect,
    )
    .option('--json', 'print JSON instead of text')
    .addHelpText('after', examples)
    .action(async (name: string, flags: ShowFlags) => {
      const entry = entryOf(name);
      if (entry.kind === 'file' && flags.path === undefined) return explain(entry, flags, io);
      const dataset = await load(name, flags, io);
      if (flags.json) return io.print(JSON.stringify(asJson(entry, dataset), null, 2));
      for (const line of describe(entry, dataset)) io.print(line);
    });

const collect = (value: string, before: readonly string[] = []) => [...before, value];

function whole(value: string): number {
  if (!/^[0-9]{1,9}$/.test(value)) throw new InvalidArgumentError('it must be a whole number.');
  return Number(value);
}

function entryOf(name: string): CatalogueEntry {
  const entries = datasetCatalogue();
  const entry = entries.find((e) => e.id === name);
  if (entry !== undefined) return entry;
  const names = entries.map((e) => e.id);
  throw new PerwattError('DATASET_UNKNOWN', `unknown data set "${name}"${didYouMean(name, names)}`);
}

const load = (kind: string, flags: ShowFlags, io: Io): Promise<Dataset> =>
  loadDataset(
    {
      kind,
      limit: Math.max(1, flags.limit),
      options: {
        ...(flags.level === undefined ? {} : { level: flags.level }),
        ...(flags.path === undefined ? {} : { path: flags.path }),
        ...Object.fromEntries((flags.option ?? []).map(parseOption)),
      },
    },
    { root: io.cwd, seed: flags.seed, signal: io.signal },
  );

function parseOption(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  if (at < 1) throw new PerwattError('USAGE', `"${text}" is no name=value`);
  const value = text.slice(at + 1);
  try {
    return [text.slice(0, at), JSON.parse(value)];
  } catch {
    return [text.slice(0, at), value];
  }
}

function explain(entry: CatalogueEntry, flags: ShowFlags, io: Io): void {
  const facts = [
    `${entry.id}: ${entry.summary}`,
    `grader ${entry.grader}, licence ${entry.licence}`,
    ...cardLines(entry),
  ];
  const lines = flags.json ? [JSON.stringify(entry, null, 2)] : [...facts, ...optionLines(entry)];
  for (const line of lines) io.print(line);
}

function cardLines({ card }: CatalogueEntry): string[] {
  if (card === undefined) return [];
  const { source, hub, how, splits, notes } = card;
  const sizes = Object.entries(splits).map(([split, records]) => `${split} ${records ?? '?'}`);
  return [
    `source ${source}${hub === null ? '' : `, on the hub as ${hub.repo}${hub.gated ? ' (gated)' : ''}`}`,
    `records: ${sizes.join(', ')}`,
    ...(how === undefined ? [] : [how]),
    ...notes,
  ];
}

const optionLines = ({ options }: CatalogueEntry) =>
  options.length === 0 ? [] : ['options:', ...options.map((o) => `  ${o.name.padEnd(13)} ${o.summary}`)];

const asJson = ({ summary, options }: CatalogueEntry, dataset: Dataset) => ({
  ...dataset,
  summary,
  option_info: options,
});

function describe(entry: CatalogueEntry, dataset: Dataset): string[] {
  return [
    `${dataset.id} (version ${dataset.version}, ${dataset.kind}): ${entry.summary}`,
    `grader ${dataset.grader}, guessing reaches ${(dataset.guess_rate * 100).toFixed(1)} %, answers of up to ${dataset.answer_tokens} tokens`,
    `licence ${dataset.licence}, digest of the ${dataset.items.length} questions shown ${dataset.digest}`,
    ...optionLines(entry),
    ...dataset.items.flatMap(question),
  ];
}

const question = ({ id, prompt, gold, subject }: Item) => [
  '',
  `${id}${subject === null ? '' : ` (${subject})`}, right answer ${gold}`,
  ...prompt.split('\n').map((line) => `  ${line}`),
];
