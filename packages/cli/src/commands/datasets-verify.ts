import { type Dataset, type Item, messageOf, PerwattError } from '@perwatt/core';
import { type CatalogueEntry, datasetCatalogue, loadDataset } from '@perwatt/datasets';
import { graderById } from '@perwatt/graders';
import { Command } from 'commander';
import { pulledFiles, pulledSplit } from '../datasets-store.js';
import type { Io } from '../io.js';
import { textTable } from '../text-table.js';
import { cardOf, entryOf } from './datasets-entry.js';

interface VerifyFlags {
  readonly split?: string;
  readonly path?: string;
  readonly json?: boolean;
}

/** One check of a data set: whether it holds, and what was found. */
interface Check {
  readonly dataset: string;
  readonly split: string;
  readonly check: 'files' | 'count' | 'duplicates' | 'known bad' | 'gold against gold';
  readonly state: 'ok' | 'failed' | 'note' | 'skipped';
  readonly detail: string;
}

const examples = `
Checks, of every split that was pulled or of the file given:
  files               their sha256, format and fields, and that every record can be read
  count               records against the card
  duplicates          questions that stand in it twice
  known bad           golds that the card says are wrong or ambiguous
  gold against gold   every gold answer, put as a model would, graded by the set's own grader in robust mode

Examples:
  perwatt datasets verify
  perwatt datasets verify gsm8k --path test.jsonl --json`;

/** `perwatt datasets verify`: pins, schema, counts and a self-test of the grader. Exit code 1 when a check fails. */
export const verifyCommand = (io: Io): Command =>
  new Command('verify')
    .description('Check data sets: pins, schema, counts, and every gold answer graded against itself')
    .argument('[name]', 'data set; default: all that were pulled')
    .option('--split <name>', 'only this split')
    .option('--path <file>', 'check this file or folder instead of what was pulled')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', examples)
    .action(async (name: string | undefined, flags: VerifyFlags) => {
      const work = workOf(name, flags, io);
      const checks: Check[] = [];
      for (const own of work) checks.push(...(await checkSplit(own, flags, io)));
      if (flags.json) io.print(JSON.stringify(checks, null, 2));
      else if (checks.length === 0) io.print('nothing was pulled; `perwatt datasets pull <name>` does');
      else for (const line of table(checks, io)) io.print(line);
      if (checks.some(({ state }) => state === 'failed')) io.setExitCode(1);
    });

interface Work {
  readonly entry: CatalogueEntry;
  readonly split: string;
}

function workOf(name: string | undefined, { split, path }: VerifyFlags, io: Io): Work[] {
  if (path !== undefined && name === undefined)
    throw new PerwattError('USAGE', '--path needs the name of the data set that the file holds');
  const entries =
    name === undefined ? datasetCatalogue().filter(({ card }) => card !== undefined) : [entryOf(name)];
  const work = entries.flatMap((entry) => {
    const splits = Object.keys(cardOf(entry).splits);
    if (split !== undefined && name !== undefined && !splits.includes(split))
      throw new PerwattError('USAGE', `data set "${name}" has no split "${split}": ${splits.join(', ')}`);
    if (path !== undefined) return [{ entry, split: split ?? splits[0] ?? '' }];
    return splits
      .filter((own) => split === undefined || own === split)
      .filter((own) => pulledSplit(entry.id, own, io) !== null)
      .map((own) => ({ entry, split: own }));
  });
  if (work.length > 0 || name === undefined) return work;
  throw new PerwattError('DATASET_UNAVAILABLE', `nothing of data set "${name}" was pulled`, {
    hint: `Run \`perwatt datasets pull ${name}\`, or give a file with \`--path\`.`,
  });
}

async function checkSplit({ entry, split }: Work, { path }: VerifyFlags, io: Io): Promise<Check[]> {
  const check = (name: Check['check'], state: Check['state'], detail: string): Check => ({
    dataset: entry.id,
    split,
    check: name,
    state,
    detail,
  });
  let dataset: Dataset;
  try {
    dataset = await loadDataset(
      { kind: entry.id, options: { split, ...(path === undefined ? {} : { path }) } },
      { root: io.cwd, seed: 0, signal: io.signal, pulled: pulledFiles(io) },
    );
  } catch (error) {
    io.signal.throwIfAborted();
    if (!(error instanceof PerwattError)) throw error;
    return [check('files', 'failed', `${error.code}: ${messageOf(error)}`)];
  }
  const { items, files = [], known_bad = [], left_out = 0 } = dataset;
  const twice = duplicates(items);
  const wanted = cardOf(entry).splits[split] ?? null;
  const counted = items.length + left_out;
  return [
    check('files', 'ok', filesText(entry, files)),
    check(
      'count',
      wanted === null ? 'note' : countState(counted, wanted, path),
      `${counted} records${left_out > 0 ? `, ${left_out} left out` : ''}; the card says ${wanted ?? 'nothing'}`,
    ),
    check('duplicates', twice.length === 0 ? 'ok' : 'note', pairsText(twice)),
    check('known bad', known_bad.length === 0 ? 'ok' : 'note', known_bad.join(', ') || 'none of the items'),
    check('gold against gold', ...selfTest(dataset)),
  ];
}

/** A file of someone's own may be a part; what was pulled must be the whole. */
const countState = (counted: number, wanted: number, path: string | undefined): Check['state'] => {
  if (counted === wanted) return 'ok';
  return path === undefined && counted < wanted ? 'failed' : 'note';
};

function filesText({ card }: CatalogueEntry, files: NonNullable<Dataset['files']>): string {
  const known = (sha256: string | null) => card?.copies.find((copy) => copy.sha256 === sha256)?.name ?? null;
  return files
    .map(
      ({ path, sha256 }) =>
        `${path} ${sha256?.slice(0, 16)}…${known(sha256) === null ? '' : ` (${known(sha256)})`}`,
    )
    .join(', ');
}

/** Items that ask what an earlier one asks, with the earlier one. */
function duplicates(items: readonly Item[]): [string, string][] {
  const first = new Map<string, string>();
  const twice: [string, string][] = [];
  for (const { id, prompt } of items) {
    const known = first.get(prompt);
    if (known === undefined) first.set(prompt, id);
    else twice.push([id, known]);
  }
  return twice;
}

const SHOWN = 20;

function pairsText(pairs: readonly [string, string][]): string {
  const shown = pairs.slice(0, SHOWN).map(([id, earlier]) => `${id} as ${earlier}`);
  const more = pairs.length > SHOWN ? ` and ${pairs.length - SHOWN} more` : '';
  return pairs.length === 0 ? 'none' : `${pairs.length}: ${shown.join(', ')}${more}`;
}

/** How a model would put a gold answer, by grader; null where a text can't show that the grader is right. */
const put: Readonly<Record<string, (item: Item) => string>> = {
  numeric: ({ gold }) => `#### ${gold}`,
  choice: ({ gold }) => `The answer is (${gold}).`,
  math: ({ gold }) => `The answer is \\boxed{${gold}}.`,
  exact: ({ gold }) => `Answer: ${gold}`,
  em_f1: ({ gold }) => `Answer: ${gold}`,
  literal: ({ gold }) => JSON.stringify({ answer: gold }),
  puzzle_cells: ({ gold }) => gold,
  plan: ({ gold }) => `[PLAN]\n${gold}\n[PLAN END]`,
};

function selfTest({ grader: id, items }: Dataset): [Check['state'], string] {
  const answer = put[id];
  if (answer === undefined) return ['skipped', `grader "${id}" needs more than a text`];
  const grader = graderById(id);
  const wrong = items.filter((item) => {
    const { gold, options, aliases, data } = item;
    const more = { ...(aliases && { aliases }), ...(data && { data }) };
    return grader.grade({ prediction: answer(item), gold, options, ...more }).verdict !== 'correct';
  });
  const found = `${items.length - wrong.length} of ${items.length} right`;
  if (wrong.length === 0) return ['ok', found];
  const ids = wrong.slice(0, SHOWN).map((item) => item.id);
  return ['failed', `${found}; not: ${ids.join(', ')}${wrong.length > SHOWN ? ' …' : ''}`];
}

const table = (checks: readonly Check[], io: Io): string[] =>
  textTable(
    ['data set', 'split', 'check', 'state', 'found'].map((name) => ({ name, right: false })),
    checks.map(({ dataset, split, check, state, detail }) => [dataset, split, check, state, detail]),
    io.columns ?? 200,
  );
