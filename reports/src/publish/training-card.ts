import { formatNanos } from '../format.js';
import type { TrainingReport } from '../training/training-account.js';
import { dayOf } from './citation.js';
import { bytes, list, markdownText, redactionLines } from './data-card.js';
import type { PublicationSummary } from './publication-summary.js';

export interface TrainingCardInput {
  readonly title: string;
  readonly licence: string | null;
  readonly runs: readonly { readonly report: TrainingReport; readonly folder: string }[];
  readonly redacted: PublicationSummary['redacted'];
  readonly missing: readonly string[];
}

const filesText = `| file | what it is |
| --- | --- |
| \`report/index.html\` | curves, costs and claims; needs no network |
| \`results.json\` | the account of every training: joules, gains, seeds, ledgers of the meters |
| \`results.csv\`, \`results.parquet\` | every figure on a line of its own, with its bounds, or why it is missing |
| \`tables/results.md\`, \`tables/results.tex\` | the table for texts and papers |
| \`figures/\` | the figures as SVG, PNG and PDF |
| \`data/\` | the tables behind them, Parquet: steps, evaluations, samples of power |
| \`CITATION.cff\` | how to cite it |
| \`SHA256SUMS\` | checksums of all files: \`sha256sum -c SHA256SUMS\` |`;

function runLines({
  report: { manifest, energy, torn },
  folder,
}: TrainingCardInput['runs'][number]): string[] {
  const { host, power, trainings } = manifest;
  const facts = [
    host.cpu ?? 'processor not known',
    `${host.threads} threads`,
    bytes(host.memory_bytes),
    host.os,
    host.kernel,
    ...(host.virtual_machine === null ? [] : [`virtual machine (${host.virtual_machine})`]),
  ];
  return [
    `## Run ${markdownText(manifest.run_id)}${folder === '.' ? '' : ` (folder \`${folder}\`)`}`,
    '',
    ...list([
      `begun ${dayOf(manifest) ?? 'on an unknown day'}, ${manifest.status}, Perwatt ${markdownText(manifest.perwatt_version)}`,
      `system: ${markdownText(facts.join(', '))}`,
      ...(power.length === 0
        ? ['power: none recorded']
        : power.map(
            ({ source, provenance, period_ns }) =>
              `power: ${markdownText(source)} (${provenance}), read every ${formatNanos(period_ns)}`,
          )),
      ...(energy.reason === null ? [] : [`energy is not told: ${markdownText(energy.reason)}`]),
      ...torn.map((text) => `not whole: ${markdownText(text)}`),
    ]),
    '',
    '### Trainings',
    '',
    ...list(
      trainings.map(({ name, recipe, version, seeds, steps, params }) => {
        const set = Object.entries(params).map(([key, value]) => `${key}=${value}`);
        return `${markdownText(name)}: recipe ${markdownText(recipe)} version ${version}, seeds ${seeds.join(', ')}, ${steps} steps, ${markdownText(set.join(' '))}`;
      }),
    ),
    '',
    '### What is claimed',
    '',
    ...list(
      trainings.flatMap(({ name, claims }) =>
        claims.map(
          ({ text, status }) =>
            `${markdownText(name)}: ${markdownText(text)} (${status === 'supported' ? 'supported' : 'not supported'})`,
        ),
      ),
    ),
    '',
  ];
}

/** The data card of a publication of trainings, Markdown. */
export const trainingCard = ({ title, licence, runs, redacted, missing }: TrainingCardInput): string =>
  [
    `# ${markdownText(title)}`,
    '',
    'Trainings of small real policies, made with Perwatt with power sampled all the while: joules, tokens and actions of every step, accuracy on held-out items, and what a point of it cost. They show how a method works and what its steps cost on one machine, and say nothing of the size of its effect on a large model.',
    '',
    `Licence: ${licence === null ? 'none named' : markdownText(licence)}.`,
    '',
    '## Files',
    '',
    filesText,
    ...(runs.length > 1 ? ['', 'Each run has its own tables in the folder named below.'] : []),
    '',
    ...runs.flatMap(runLines),
    '## What is not here',
    '',
    ...list([
      'checkpoints and items: the recipe, its version, parameters and seeds give the same ones again',
      'net energy in the tables: their joules are gross',
      ...missing.map(markdownText),
    ]),
    '',
    '## What was taken out',
    '',
    ...redactionLines({ ...redacted, texts: true }).slice(0, -1),
    '',
  ].join('\n');
