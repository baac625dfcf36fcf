import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import { verifyRun } from '@perwatt/records';
import {
  CLAIMS_FILE,
  type ClaimComparison,
  type ClaimOptions,
  compareClaims,
  differenceText,
  type EnergyRecheck,
  RUN_FOLDER,
  recheckEnergy,
  reportOf,
  resultsJson,
  type UnpackedBundle,
  unpackBundle,
} from '@perwatt/reports';
import { Command, InvalidArgumentError } from 'commander';
import { computeResults } from '../compute-results.js';
import type { Io } from '../io.js';
import { openShared, withScratch } from '../redacted-run.js';
import { optionsOf } from '../shared-options.js';
import { trainingClaims } from '../train-text.js';

interface CheckFlags {
  readonly into?: string;
  readonly maxBytes: number;
  readonly json?: boolean;
}

const GIB = 2 ** 30;
const MOST_LINES = 20;

const help = `
Checked, in this order: that the archive holds plain files alone, within its folder, of the sizes and sha256 that it lists;
that the run is whole and unchanged, as \`perwatt verify\` does; that the energy of every query and the meters of every cell
come out of the raw samples and the spans of the calls; and that every figure of the results that are claimed comes out
again. The first difference of each is named. Of a training run the joules of its steps and evaluations come out of the samples
in the same way, and its account is held. A metric that is claimed of no cell, because the sender's version had none of
it, is noted and no problem.

Exit codes: 0 everything holds, 1 something does not.

Examples:
  perwatt bundle check submission.tgz
  perwatt bundle check submission.tgz --into /tmp/submission --json`;

/** `perwatt bundle check`: works a submission out again. */
export const bundleCheckCommand = (io: Io, version: string): Command =>
  new Command('check')
    .description('Work a submission out again and hold it to what it claims')
    .argument('<bundle>', 'file that `perwatt bundle` wrote')
    .option('--into <dir>', 'new or empty folder to unpack into, which stays; default: a temporary one')
    .option('--max-bytes <n>', 'most that it may unpack to', byteCount, 64 * GIB)
    .option('--json', 'print what was found as JSON')
    .addHelpText('after', help)
    .action((path: string, _flags: CheckFlags, command: Command) => {
      const flags = optionsOf<CheckFlags>(command);
      return withScratch(async (scratch) => {
        const into = flags.into === undefined ? join(scratch, 'bundle') : resolve(io.cwd, flags.into);
        const file = resolve(io.cwd, path);
        const unpacked = await unpackBundle(file, { into, most_bytes: flags.maxBytes });
        const checked = await checkUnpacked(into, unpacked, version);
        if (flags.json) io.print(JSON.stringify(checked, null, 2));
        else print(io, relative(io.cwd, file), checked);
        if (checked.problems.length > 0) io.setExitCode(1);
      });
    });

function byteCount(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('give a whole number of bytes');
  return value;
}

interface Checked {
  readonly run_id: string;
  readonly files: number;
  readonly bytes: number;
  readonly rows: number;
  readonly energy: Omit<WorkedEnergy, 'problems'>;
  /** Values of the results that were held against each other. */
  readonly values: number;
  /** Metrics that come out here and are not claimed, as those of a later version are. */
  readonly unclaimed_metrics: readonly string[];
  readonly problems: readonly string[];
}

async function checkUnpacked(
  folder: string,
  { manifest, bytes, problems }: UnpackedBundle,
  version: string,
): Promise<Checked> {
  const path = join(folder, RUN_FOLDER);
  const verified = verifyRun(path);
  const { energy, results } = await workedOut(path);
  const claims = heldToClaims(results, join(folder, CLAIMS_FILE), {
    unclaimed: manifest.perwatt_version === version ? 'refuse' : 'ignore',
  });
  const [first, ...more] = claims.differences;
  return {
    run_id: manifest.run_id,
    files: manifest.files.length,
    bytes,
    rows: verified.rows,
    energy: {
      trainings: energy.trainings,
      queries: energy.queries,
      sittings: energy.sittings,
      notes: energy.notes,
    },
    values: claims.values,
    unclaimed_metrics: claims.unclaimed_metrics,
    problems: [
      ...problems.map((text) => `archive: ${text}`),
      ...verified.findings
        .filter(({ level }) => level === 'problem')
        .map(({ code, where, text }) => `records: ${code}: ${where}: ${text}`),
      ...energy.problems.map((text) => `energy: ${text}`),
      ...(first === undefined
        ? []
        : [`results: ${differenceText(first)}${more.length > 0 ? `, and ${more.length} more differ` : ''}`]),
    ],
  };
}

/** What was worked out of the samples: of a run of a matrix by query, of a training by step and evaluation. */
interface WorkedEnergy extends EnergyRecheck {
  readonly trainings: number;
}

interface WorkedOut {
  readonly energy: WorkedEnergy;
  /** JSON of the results. */
  readonly results: string;
}

/** Works a run out again, of whatever kind it is. */
async function workedOut(path: string): Promise<WorkedOut> {
  const shared = openShared(path);
  if (shared.kind === 'training') {
    const { run } = shared;
    const report = reportOf(run);
    const sittings = run.manifest.sittings.length;
    const energy = { trainings: report.accounts.length, queries: 0, sittings, problems: [], notes: [] };
    return { energy, results: trainingClaims(report) };
  }
  const results = resultsJson(await computeResults(shared.run));
  return { energy: { trainings: 0, ...recheckEnergy(shared.run) }, results };
}

function heldToClaims(results: string, file: string, options: ClaimOptions): ClaimComparison {
  const found: unknown = JSON.parse(results);
  let claimed: unknown;
  try {
    claimed = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new PerwattError(
      'INPUT_INVALID',
      `${CLAIMS_FILE} of the bundle cannot be read: ${messageOf(cause)}`,
      { cause },
    );
  }
  return compareClaims(withoutDefinitions(claimed), withoutDefinitions(found), options);
}

/** What metrics mean is ours to say, not the sender's to claim. */
function withoutDefinitions(results: unknown): unknown {
  if (typeof results !== 'object' || results === null) return results;
  return Object.fromEntries(Object.entries(results).filter(([key]) => key !== 'metrics'));
}

function print(
  io: Io,
  file: string,
  { run_id, files, bytes, rows, energy, values, unclaimed_metrics, problems }: Checked,
): void {
  for (const text of problems.slice(0, MOST_LINES)) io.print(`problem ${text}`);
  if (problems.length > MOST_LINES)
    io.print(`and ${problems.length - MOST_LINES} more problems; --json has all`);
  for (const note of energy.notes) io.print(`note ${note}`);
  if (unclaimed_metrics.length > 0)
    io.print(`note metrics that come out here and are not claimed: ${unclaimed_metrics.join(', ')}`);
  io.print(`${file}: run ${run_id}, ${files} files, ${bytes} bytes, ${rows} rows`);
  const pieces = energy.trainings > 0 ? `${energy.trainings} trainings` : `${energy.queries} queries`;
  io.print(
    `worked out again: ${pieces} in ${energy.sittings} sittings from the samples, ${values} values of the results`,
  );
  io.print(
    problems.length === 0
      ? 'everything holds'
      : `${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`,
  );
}
