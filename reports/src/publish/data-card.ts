import { formatNanos } from '../format.js';
import type { CellResult, RunResults } from '../results-types.js';
import { dayOf } from './citation.js';
import type { PublicationSummary } from './publication-summary.js';

export interface DataCardInput {
  readonly title: string;
  readonly licence: string | null;
  readonly runs: readonly { readonly results: RunResults; readonly folder: string }[];
  readonly redacted: PublicationSummary['redacted'];
  /** Notes on what is not in the publication, such as figures that could not be drawn. */
  readonly missing: readonly string[];
}

/** A text inside a line of Markdown: nothing in it is markup. */
export const markdownText = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, ' ').replace(/[\\`*_[\]<>|#~]/g, '\\$&');

/** Lines as items of a Markdown list. */
export const list = (lines: readonly string[]): string[] => lines.map((line) => `- ${line}`);
const unique = (texts: readonly string[]): string[] => [...new Set(texts)];
/** A size in GiB. */
export const bytes = (n: number): string => `${(n / 2 ** 30).toFixed(1)} GiB`;

function runLines({ results, folder }: DataCardInput['runs'][number]): string[] {
  const { host, cells, power } = results;
  const states = (['valid', 'flagged', 'invalid'] as const).map(
    (state) => `${cells.filter(({ verdict }) => verdict.state === state).length} ${state}`,
  );
  const place = folder === '.' ? '' : ` (folder \`${folder}\`)`;
  return [
    `## Run ${markdownText(results.run_id)}${place}`,
    '',
    ...list([
      `begun ${dayOf(results) ?? 'on an unknown day'}, ${results.status}, protocol ${results.protocol}, Perwatt ${markdownText(results.perwatt_version)}`,
      `system: ${markdownText([host.cpu ?? 'processor not known', `${host.threads} threads`, bytes(host.memory_bytes), host.os, host.kernel, host.virtual_machine === null ? '' : `virtual machine (${host.virtual_machine})`].filter((part) => part !== '').join(', '))}`,
      `cells: ${states.join(', ')}`,
      `queries: ${cells.reduce((sum, { counts }) => sum + counts.attempted, 0)}`,
      ...(power.length === 0
        ? ['power: none recorded']
        : power.map(
            ({ source, provenance, period_ns, domains }) =>
              `power: ${markdownText(source)} (${provenance}), read every ${formatNanos(period_ns)}, domains ${domains.map(({ id, scope }) => `${markdownText(id)} (${scope})`).join(', ')}`,
          )),
    ]),
    '',
    '### Data sets',
    '',
    ...list(datasetLines(cells)),
    '',
    '### Models',
    '',
    ...list(modelLines(cells)),
    '',
    '### What was not measured',
    '',
    ...(results.not_measured.length === 0
      ? ['Nothing that these figures claim to include.']
      : list(results.not_measured.map(({ text }) => markdownText(text)))),
    '',
  ];
}

const datasetLines = (cells: readonly CellResult[]): string[] =>
  unique(
    cells.flatMap(({ provenance }) => {
      if (provenance === null) return [];
      const { id, version, items, licence, digest } = provenance.dataset;
      return [
        `${markdownText(id)} version ${version}: ${items} items, licence ${markdownText(licence)}, sha256 ${digest}`,
      ];
    }),
  );

const modelLines = (cells: readonly CellResult[]): string[] =>
  unique(
    cells.map(({ point, provenance }) => {
      const endpoint = provenance?.endpoint;
      const facts = [
        endpoint?.quantisation,
        endpoint?.engine == null ? null : `${endpoint.engine} ${endpoint.engine_version ?? ''}`.trim(),
        endpoint?.model_sha256 == null ? null : `weights sha256 ${endpoint.model_sha256}`,
      ].filter((fact) => fact != null && fact !== '');
      return `${markdownText(point.model)} on ${markdownText(point.accelerator)}${facts.length === 0 ? '' : `: ${facts.map((fact) => markdownText(String(fact))).join(', ')}`}`;
    }),
  );

const filesText = `| file | what it is |
| --- | --- |
| \`report/index.html\` | the report; needs no network |
| \`results.json\`, \`results.csv\`, \`results.parquet\` | every figure of every cell with its interval, how that was made, and why a figure is missing |
| \`tables/results.md\`, \`tables/results.tex\` | the result table for texts and papers |
| \`figures/\` | the figures as SVG, PNG and PDF |
| \`data/\` | the tables behind the figures, Parquet: queries, calls, samples of power, cells |
| \`summary.json\`, \`summary.schema.json\` | the whole in short for machines, and its JSON Schema |
| \`CITATION.cff\` | how to cite it |
| \`SHA256SUMS\` | checksums of all files: \`sha256sum -c SHA256SUMS\` |`;

/** What was taken out, as items of a list. */
export function redactionLines({
  hosts,
  users,
  home_paths,
  secrets,
  texts,
}: PublicationSummary['redacted']): string[] {
  return list([
    `host names: ${hosts === 0 ? 'none found' : `replaced in ${hosts} texts by \`host-1\`, \`host-2\` …`}`,
    `user names: ${users === 0 ? 'none found' : `replaced in ${users} texts by \`user\``}`,
    `home folders: ${home_paths === 0 ? 'none found' : `replaced in ${home_paths} texts by \`~\``}`,
    `keys, tokens, passwords: ${secrets === 0 ? 'none found' : `taken out of ${secrets} texts`}`,
    texts
      ? 'prompts, completions and answers were left out'
      : 'prompts and completions stand only where the report shows some; `data/texts.parquet` has all that were kept',
  ]);
}

/** The data card of a publication, Markdown: what it is, how it was made, and what to keep in mind. */
export function dataCard(input: DataCardInput): string {
  const { title, licence, runs, redacted, missing } = input;
  return [
    `# ${markdownText(title)}`,
    '',
    'Measurements of the intelligence per watt of language models: accuracy, power and energy of every cell of a matrix of models, accelerators, data sets, strategies and loads, made with Perwatt.',
    '',
    `Licence: ${licence === null ? 'none named' : markdownText(licence)}. The data sets keep their own.`,
    '',
    '## Files',
    '',
    filesText,
    ...(runs.length > 1
      ? ['', 'Each run has a folder of its own with its results, tables, figures and data.']
      : []),
    ...(missing.length > 0 ? ['', ...list(missing.map(markdownText))] : []),
    '',
    ...runs.flatMap(runLines),
    '## What was taken out',
    '',
    ...redactionLines(redacted),
    '',
    '## Keep in mind',
    '',
    ...list([
      'A flagged cell has a known weakness, an invalid one should not be quoted; the reasons stand beside each.',
      'Figures of different boundary or provenance (measured, estimated, simulated) are not comparable.',
      'IPW depends on load: compare strategies and loads by IPJ.',
      'With fewer than three repeats the spread of energy between runs is not known.',
    ]),
    '',
    '## Check it',
    '',
    'Joules are booked in `data/samples.parquet` (`booked_energy_j`, per domain); a cell’s energy is their difference over the spans in which `data/calls.parquet` has a call in flight. Nothing else is needed to recompute a figure.',
    '',
  ].join('\n');
}
