import { datasetCatalogue } from './catalogue.js';
import type { CatalogueEntry } from './dataset.js';
import type { DatasetCard } from './sets/card.js';

type Published = CatalogueEntry & { readonly card: DatasetCard };

const isPublished = (entry: CatalogueEntry): entry is Published => entry.card !== undefined;

const cell = (text: string): string => text.replaceAll('|', '\\|');

const count = (n: number | null): string => (n === null ? '?' : n.toLocaleString('en-US'));

const sizes = ({ splits }: DatasetCard): string =>
  Object.entries(splits)
    .map(([split, records]) => `${split} ${count(records)}`)
    .join(', ');

function stateOf({ hub }: DatasetCard): string {
  if (hub === null) return 'by hand';
  return hub.gated ? 'gated' : 'pulled';
}

const row = ({ id, grader, licence, summary, card }: Published): string =>
  `| [\`${id}\`](#${id}) | ${cell(summary)} | ${cell(grader)} | ${sizes(card)} | ${cell(licence)} | ${stateOf(card)} |`;

function* section({ id, options, card }: Published): Generator<string> {
  yield `### ${id}`;
  yield '';
  yield `${card.title}: ${card.summary}. Source: <${card.source}>. Licence: ${card.licence}. Grader: ${card.grader}.`;
  yield '';
  if (card.how !== undefined) yield `- ${card.how}`;
  if (card.hub !== null) {
    const files = Object.entries(card.hub.files).map(([split, files]) => `${split} \`${files}\``);
    yield `- Hub: \`${card.hub.repo}\`${card.hub.gated ? ' (gated)' : ''}; files: ${files.join(', ')}.`;
  }
  const fields = card.fields.map((field) =>
    typeof field === 'string' ? `\`${field}\`` : field.map((name) => `\`${name}\``).join(' or '),
  );
  yield `- Fields of every record: ${fields.join(', ')}.`;
  const named = options.filter(
    ({ name }) => name !== 'path' && name !== 'sha256' && name !== 'answer_tokens',
  );
  for (const { name, summary } of named) yield `- \`${name}\`: ${summary}.`;
  for (const { name, rows, sha256 } of card.copies)
    yield `- Known copy: ${name}, ${count(rows)} rows, sha256 \`${sha256}\`.`;
  for (const { id: item, question, kind, why } of card.known_bad)
    yield `- Known bad (${kind.replaceAll('-', ' ')}): ${item === undefined ? `the question with digest \`${question}\`` : `\`${item}\``}: ${why}.`;
  if (card.withhold === true)
    yield '- Its questions are withheld from listings and reports, as its authors ask.';
  for (const note of card.notes) yield `- ${note}`;
  yield '';
}

const head = `# Data sets

<!-- Written by \`npm run docs:datasets\` from the cards in datasets/src/sets; change them, not this page. -->

Published data sets are read from files in their official formats (JSON, JSON Lines, CSV, Parquet, Arrow, packed or not). None comes
with Perwatt. In a matrix, \`path\` names a file or folder; without it the files that were pulled are taken.

    perwatt datasets list                       what there is, and what of it is here
    perwatt datasets pull gsm8k                 from the hub, checked against its sha256, kept in the cache
    perwatt datasets pull gsm8k --from FILE     a file you have, checked against the known copies and the schema
    perwatt datasets show gsm8k --items 5       the card, and questions as a run asks them
    perwatt datasets verify                     pins, schema, counts, and every gold answer graded against itself

A pull is pinned: the commit of the repository and the sha256 of each file stand in \`pulled.json\` beside the files, and a file that
is no longer the same is an error. HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE are those of the hub's own client; PERWATT_CACHE is the
folder of the cache. A *gated* set needs an account that accepted its terms, and HF_TOKEN; one *by hand* is fetched from its
source and given by path. Items whose gold is known to be wrong or ambiguous are marked, and the report has a second accuracy without
them. [Generated sets](#generated-sets) need no files.`;

const generatedHead = `## Generated sets

Made from a seed, on this machine, without files or network: the same seed gives the same questions on every machine, a lower \`limit\`
the first of them, and each question has one id whatever the seed. Answers are checked exactly. \`level\` and the other options stand
beside \`kind\` in a matrix. [docs/worlds.md](worlds.md) tells of the worlds, the program language and the puzzles.`;

const generatedRow = ({ id, grader, summary }: CatalogueEntry): string =>
  `| [\`${id}\`](#${id}) | ${cell(summary)} | ${cell(grader)} |`;

const generatedSection = ({ id, options }: CatalogueEntry): string[] => [
  `### ${id}`,
  '',
  ...options.map(({ name, summary }) => `- \`${name}\`: ${summary}.`),
  '',
];

/** `docs/datasets.md`, made from the cards. Ends in a newline. */
export function datasetsPage(entries: readonly CatalogueEntry[] = datasetCatalogue()): string {
  const published = entries.filter(isPublished);
  const generated = entries.filter(({ kind }) => kind === 'generated');
  const lines = [
    head,
    '',
    '| id | what is asked | grader | records | licence | files |',
    '| --- | --- | --- | --- | --- | --- |',
    ...published.map(row),
    '',
    '## Cards',
    '',
    ...published.flatMap((entry) => [...section(entry)]),
    generatedHead,
    '',
    '| id | what is asked | grader |',
    '| --- | --- | --- |',
    ...generated.map(generatedRow),
    '',
    ...generated.flatMap(generatedSection),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}
