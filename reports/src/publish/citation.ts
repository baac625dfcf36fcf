import type { RunResults } from '../results-types.js';

/** What only those who publish can say. */
export interface CitationFacts {
  readonly title: string;
  /** `Family, Given`, or the name of a group; may be empty. */
  readonly authors: readonly string[];
  /** SPDX id; null where none was named. */
  readonly licence: string | null;
  readonly url: string | null;
}

/** A text as YAML in double quotes, which JSON is. */
const quoted = (text: string): string => JSON.stringify(text.replace(/[\p{Cc}\p{Cf}]/gu, ' '));

function authorLines(author: string): string[] {
  const [family = '', ...given] = author.split(',').map((part) => part.trim());
  return given.length === 0
    ? [`  - name: ${quoted(family)}`]
    : [`  - family-names: ${quoted(family)}`, `    given-names: ${quoted(given.join(', '))}`];
}

/** The day a run began, by the wall time of its manifest; null where it has none. */
export const dayOf = ({ clocks }: Pick<RunResults, 'clocks'>): string | null =>
  clocks[0]?.wall_time.slice(0, 10) ?? null;

/** A run as a citation names it. */
export interface CitedRun extends Pick<RunResults, 'run_id' | 'perwatt_version' | 'clocks'> {
  /** A sha256 that tells what was run, and what it is of. */
  readonly sha256: string;
  readonly sha256_of: string;
}

/** A run of a matrix as a citation names it. */
export const citedRun = ({ run_id, perwatt_version, clocks, matrix_sha256 }: RunResults): CitedRun => ({
  run_id,
  perwatt_version,
  clocks,
  sha256: matrix_sha256,
  sha256_of: 'the matrix',
});

/** `CITATION.cff` (format 1.2.0, https://citation-file-format.github.io) of the runs. */
export function citationFile(
  runs: readonly CitedRun[],
  { title, authors, licence, url }: CitationFacts,
): string {
  const days = runs.map(dayOf).filter((day) => day !== null);
  const last = days.toSorted().at(-1) ?? null;
  const versions = [...new Set(runs.map(({ perwatt_version }) => perwatt_version))].sort();
  return [
    'cff-version: 1.2.0',
    'message: "If you use these measurements, please cite them as below."',
    'type: dataset',
    `title: ${quoted(title)}`,
    'authors:',
    ...(authors.length === 0
      ? [`  - name: ${quoted(`Those who made ${runs.map(({ run_id }) => run_id).join(', ')}`)}`]
      : authors.flatMap(authorLines)),
    ...(last === null ? [] : [`date-released: ${last}`]),
    ...(licence === null ? [] : [`license: ${quoted(licence)}`]),
    ...(url === null ? [] : [`url: ${quoted(url)}`]),
    'identifiers:',
    ...runs.flatMap(({ run_id, sha256, sha256_of }) => [
      '  - type: other',
      `    value: ${quoted(sha256)}`,
      `    description: ${quoted(`sha256 of ${sha256_of} of run ${run_id}`)}`,
    ]),
    'references:',
    ...versions.flatMap((version) => [
      '  - type: software',
      '    title: "Perwatt"',
      `    version: ${quoted(version)}`,
      '    authors:',
      '      - name: "The Perwatt authors"',
    ]),
    '',
  ].join('\n');
}
