import { type Dataset, type Item, PerwattError } from '@perwatt/core';
import { type CatalogueEntry, loadDataset } from '@perwatt/datasets';
import { Command, InvalidArgumentError } from 'commander';
import { pulledFiles, pulledSplit } from '../datasets-store.js';
import type { Io } from '../io.js';
import { entryOf } from './datasets-entry.js';

interface ShowFlags {
  readonly items: number;
  readonly limit?: number;
  readonly seed: number;
  readonly level?: number;
  readonly split?: string;
  readonly path?: string;
  readonly option?: readonly string[];
  readonly json?: boolean;
}

const WITHHELD = 'withheld: its authors ask not to show its questions';

/** `perwatt datasets show`: a card, and questions as a run would ask them. */
export const showCommand = (io: Io): Command =>
  new Command('show')
    .description('Print the card of a data set and its first questions; without its files, the card alone')
    .argument('<name>', 'name from `perwatt datasets list`')
    .option('--items <n>', 'questions to print', whole, 3)
    .option('--limit <n>', 'the same as --items', whole)
    .option('--seed <n>', 'seed of a generated data set', whole, 42)
    .option('--level <n>', 'level of difficulty, where there are levels', whole)
    .option('--split <name>', 'split of a published data set; default: the first of the card')
    .option('--path <file>', 'file to read; default: what was pulled')
    .option(
      '--option <name=value>',
      'further option; the value is JSON or text; may be given several times',
      collect,
    )
    .option('--json', 'print JSON instead of text')
    .action(async (name: string, flags: ShowFlags) => {
      const entry = entryOf(name);
      if (!readable(entry, flags, io)) return explain(entry, flags, io);
      const dataset = withheld(entry, await load(name, flags, io));
      if (flags.json) return io.print(JSON.stringify(asJson(entry, dataset), null, 2));
      for (const line of describe(entry, dataset)) io.print(line);
    });

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** A whole number of an option's text. */
export function whole(value: string): number {
  if (!/^[0-9]{1,9}$/.test(value)) throw new InvalidArgumentError('it must be a whole number.');
  return Number(value);
}

/** Whether there are questions to show: of a file loader only with a path, of a published set also when it was pulled. */
function readable({ kind, card }: CatalogueEntry, { path, split }: ShowFlags, io: Io): boolean {
  if (kind === 'generated' || path !== undefined) return true;
  if (card === undefined) return false;
  return pulledSplit(card.id, split ?? Object.keys(card.splits)[0] ?? '', io) !== null;
}

const load = (kind: string, flags: ShowFlags, io: Io): Promise<Dataset> =>
  loadDataset(
    {
      kind,
      limit: Math.max(1, flags.limit ?? flags.items),
      options: {
        ...(flags.level === undefined ? {} : { level: flags.level }),
        ...(flags.split === undefined ? {} : { split: flags.split }),
        ...(flags.path === undefined ? {} : { path: flags.path }),
        ...Object.fromEntries((flags.option ?? []).map(parseOption)),
      },
    },
    { root: io.cwd, seed: flags.seed, signal: io.signal, pulled: pulledFiles(io) },
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

/** The data set without the texts of its items, where its authors ask for that; ids and subjects stay. */
function withheld({ card }: CatalogueEntry, dataset: Dataset): Dataset {
  if (card?.withhold !== true) return dataset;
  const items = dataset.items.map(
    ({ id, subject }): Item => ({ id, prompt: WITHHELD, gold: WITHHELD, options: null, subject }),
  );
  return { ...dataset, items };
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
  const { source, hub, how, splits, known_bad, notes } = card;
  const sizes = Object.entries(splits).map(([split, records]) => `${split} ${records ?? '?'}`);
  return [
    `source ${source}${hub === null ? '' : `, on the hub as ${hub.repo}${hub.gated ? ' (gated)' : ''}`}`,
    `records: ${sizes.join(', ')}`,
    ...(how === undefined ? [] : [how]),
    ...known_bad.map(({ id, question, kind, why }) => `known bad (${kind}): ${id ?? question}: ${why}`),
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
  const prompt =
    dataset.prompt === undefined ? [] : [`prompt ${dataset.prompt.id}, ${dataset.prompt.shots} shots`];
  return [
    `${dataset.id} (version ${dataset.version}, ${dataset.kind}): ${entry.summary}`,
    `grader ${dataset.grader}, guessing reaches ${(dataset.guess_rate * 100).toFixed(1)} %, answers of up to ${dataset.answer_tokens} tokens`,
    `licence ${dataset.licence}, digest of the ${dataset.items.length} questions shown ${dataset.digest}`,
    ...prompt,
    ...cardLines(entry),
    ...optionLines(entry),
    ...dataset.items.flatMap(question),
  ];
}

/** Texts of a data set may hold anything: what would steer a terminal is taken out. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, ' ');

const question = ({ id, prompt, gold, subject }: Item) => [
  '',
  `${id}${subject === null ? '' : ` (${printable(subject)})`}, right answer ${printable(gold)}`,
  ...prompt.split('\n').map((line) => `  ${printable(line)}`),
];
