import { createHash } from 'node:crypto';
import {
  createRng,
  type Dataset,
  type DatasetFile,
  type DatasetSpec,
  type Item,
  seedFrom,
} from '@perwatt/core';
import { digestOf, guessRate, type LoadContext, type Loader } from '../dataset.js';
import { collect } from '../items.js';
import { type OptionInfo, type OptionReader, readOptions } from '../options.js';
import { type Row, rowError } from '../rows.js';
import { type DatasetCard, questionDigest } from './card.js';
import type { ItemParts, ReadParts, RowContext } from './item-parts.js';
import { fillIn, labelled, type PromptTemplate, templateDigest } from './prompt-template.js';
import { filesAt, needsPath, type SetFile } from './set-files.js';
import { allRows, partsOf } from './set-rows.js';
import { noShots, type Shots, shotsOf } from './shots.js';

/** A published data set: its card, how a record is read, and how it is asked. */
export interface FileSet {
  readonly card: DatasetCard;
  /** Longest answer that makes sense, in tokens. */
  readonly answer_tokens: number;
  /** Prompts by name; `ours` is the default. */
  readonly prompts: Readonly<Record<'ours' | 'official', PromptTemplate>> &
    Readonly<Record<string, PromptTemplate>>;
  readonly read: ReadParts;
  /** The records inside a row, where a row isn't one. */
  readonly expand?: (row: Row) => Iterable<Row>;
  /** Options beside those that all sets take. */
  readonly options?: readonly OptionInfo[];
  /** The grader, where it depends on the options. */
  readonly graderFor?: (options: OptionReader) => string;
}

/** A loader of a published data set from a file or folder. */
export function fileSet(set: FileSet): Loader {
  const { card } = set;
  const options = [...commonOptions(set), ...(set.options ?? [])];
  return {
    entry: {
      id: card.id,
      kind: 'file',
      grader: card.grader,
      licence: card.licence,
      summary: card.summary,
      options,
      card,
    },
    load: (spec, context) =>
      load(set, spec, { context, reader: readOptions(card.id, spec.options, options) }),
  };
}

function commonOptions({ card, prompts, answer_tokens }: FileSet): OptionInfo[] {
  const names = Object.keys(prompts);
  const shots = Object.values(prompts).find((p) => p.shots !== undefined)?.shots;
  return [
    { name: 'path', summary: 'file or folder in the official format; default: what was pulled' },
    { name: 'split', summary: `one of ${Object.keys(card.splits).join(', ')}; the first is the default` },
    { name: 'prompt', summary: `one of ${names.join(', ')}; default ours` },
    ...(shots === undefined
      ? []
      : [
          {
            name: 'shots',
            summary: `file of worked examples, from the split "${shots.split}"; default: what was pulled`,
          },
          { name: 'shot_count', summary: `worked examples, default ${shots.count} where a prompt has them` },
        ]),
    { name: 'sha256', summary: 'sha256 of the file, checked when given' },
    { name: 'answer_tokens', summary: `longest answer that makes sense, default ${answer_tokens}` },
  ];
}

interface Loading {
  readonly context: LoadContext;
  readonly reader: OptionReader;
}

async function load(set: FileSet, spec: DatasetSpec, { context, reader }: Loading): Promise<Dataset> {
  const { card, prompts } = set;
  const [path, splits] = [reader.text('path'), Object.keys(card.splits)];
  const name = reader.oneOf('prompt', Object.keys(prompts)) ?? 'ours';
  const template = prompts[name] ?? prompts.ours;
  const rng = (...names: readonly (string | number)[]) =>
    createRng(seedFrom(spec.seed ?? context.seed, card.id, ...names));
  const split = reader.oneOf('split', splits) ?? splits[0] ?? '';
  const found = await filesOf(card, { path, split, option: 'path' }, context);
  const only = reader.text('sha256');
  const files = only === undefined ? found : found.map((file) => ({ ...file, sha256: only }));
  const rowContext = { options: reader, rng };
  const shots = await shotsFor(set, template, { reader, context, rowContext });
  const facts: DatasetFile[] = [];
  const rows = allRows(set, files, {
    context,
    onFile: (file) => facts.push(file),
    hash: spec.limit === undefined,
  });
  const bad = knownBad(card);
  const marked: string[] = [];
  const { items, left_out } = await collect(rows, {
    limit: spec.limit,
    ...(context.limits?.text_units && { textUnits: context.limits.text_units }),
    itemOf(row, index) {
      const parts = set.read(row, { ...rowContext, index });
      if (parts === null) return null;
      if (bad(parts)) marked.push(parts.id);
      return itemOf(parts, template, { row, shots });
    },
  });
  if (items.length === 0) throw noItems(files[0]?.path ?? card.id, left_out);
  return {
    id: card.id,
    version: 1,
    kind: 'file',
    grader: set.graderFor?.(reader) ?? card.grader,
    guess_rate: guessRate(items),
    answer_tokens: reader.whole('answer_tokens', { min: 1, max: 1_000_000 }) ?? set.answer_tokens,
    licence: card.licence,
    digest: digestOf(items),
    items,
    prompt: {
      id: `${card.id}/${name}@${template.version}`,
      sha256: templateDigest(template),
      shots: shots.count,
      shots_sha256: shots.sha256,
    },
    known_bad: marked,
    ...(card.withhold === true && { withhold: true as const }),
    files: facts,
    ...(left_out > 0 && { left_out }),
  };
}

interface Wanted {
  readonly path: string | undefined;
  readonly split: string;
  readonly option: 'path' | 'shots';
}

/** The files of a path, or those that were pulled of the split. Throws `DATASET_UNAVAILABLE` where there are neither. */
async function filesOf(
  card: DatasetCard,
  { path, split, option }: Wanted,
  context: LoadContext,
): Promise<readonly SetFile[]> {
  if (path !== undefined) return filesAt(path, context);
  const pulled = context.pulled?.(card.id, split) ?? null;
  if (pulled === null) throw needsPath(card, option);
  return pulled;
}

const noItems = (path: string, left_out: number) =>
  rowError(path, left_out === 0 ? 'the file has no rows' : `all ${left_out} rows are left out`);

/** Whether a record's answer is on the card's list; remarks on other faults of a record don't count. */
function knownBad(card: DatasetCard): (parts: ItemParts) => boolean {
  const known = card.known_bad.filter(({ kind }) => kind === 'wrong-gold' || kind === 'duplicate-option');
  const ids = new Set(known.flatMap(({ id }) => id ?? []));
  const questions = new Set(known.flatMap(({ question }) => question ?? []));
  return ({ id, question }) => ids.has(id) || (questions.size > 0 && questions.has(questionDigest(question)));
}

/** An item of a record: its parts in the prompt. */
function itemOf(
  parts: ItemParts,
  template: PromptTemplate,
  { row, shots }: { readonly row: Row; readonly shots: Shots },
): Item {
  const { id, gold, options, subject, aliases, data, material } = parts;
  const examples = shots.before(parts, row.place);
  return {
    id,
    prompt: fillIn(template.text, { ...valuesOf(parts, template), shots: examples }, row.place),
    gold,
    options: options ?? null,
    subject: subject ?? null,
    ...(aliases !== undefined && aliases.length > 0 && { aliases }),
    ...(data !== undefined && { data: { ...data } }),
    ...(material !== undefined && { material }),
  };
}

const valuesOf = ({ question, gold, options, subject, values }: ItemParts, { labels }: PromptTemplate) => ({
  question,
  gold,
  options: options === undefined ? null : labelled(options, labels),
  subject: subject ?? null,
  ...values,
});

interface Shooting {
  readonly reader: OptionReader;
  readonly context: LoadContext;
  readonly rowContext: Omit<RowContext, 'index'>;
}

/** The worked examples of a prompt; none when it has none, or when none are wanted. */
async function shotsFor(
  set: FileSet,
  template: PromptTemplate,
  { reader, context, rowContext }: Shooting,
): Promise<Shots> {
  const { shots } = template;
  if (shots === undefined) return noShots;
  const count = reader.whole('shot_count', { min: 0, max: 64 }) ?? shots.count;
  if (count === 0) return noShots;
  const path = reader.text('shots');
  const files = await filesOf(set.card, { path, split: shots.split, option: 'shots' }, context);
  const pool = partsOf(allRows(set, files, { context, hash: false, onFile: () => {} }), (row, index) =>
    set.read(row, { ...rowContext, index }),
  );
  return shotsOf(pool, {
    count,
    template: shots,
    rng: rowContext.rng('shots'),
    render: (parts, place) => fillIn(shots.text, valuesOf(parts, template), place),
    from: files[0]?.path ?? set.card.id,
  });
}

/** A stable short name of a text, for records without an id. */
export const nameOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
