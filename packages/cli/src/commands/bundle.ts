import { existsSync, mkdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { PerwattError } from '@perwatt/core';
import { METRIC_SPEC_VERSION } from '@perwatt/metrics';
import { type BundleClaims, packBundle, reportOf, resultsJson } from '@perwatt/reports';
import { Command } from 'commander';
import { computeResults } from '../compute-results.js';
import type { Io } from '../io.js';
import {
  openShared,
  type RedactedRun,
  type RedactedTraining,
  redactedRun,
  redactedTraining,
  redactionLine,
  refuseDamaged,
  type SharedRun,
  withScratch,
} from '../redacted-run.js';
import { trainingClaims } from '../train-text.js';
import { bundleCheckCommand } from './bundle-check.js';

interface BundleFlags {
  readonly out?: string;
  readonly texts: boolean;
  readonly keep?: readonly string[];
  readonly json?: boolean;
}

const help = `
A bundle is one file to submit: the run with its raw samples and rows, the results claimed for it, and the sha256 of every
file. Who receives it works the results out again with \`perwatt bundle check\`. The same run gives the same bytes.

A training run is packed too: its steps, evaluations and samples, and the account that is claimed for it. Checkpoints are left
out, for its seeds give the same ones again.

Host names, user names, home folders and keys are taken out, as by \`perwatt publish\`; the numbers stay as they are.

Examples:
  perwatt bundle runs/<id> --out submission.tgz
  perwatt bundle runs/<id> --out submission.tgz --no-texts
  perwatt bundle check submission.tgz`;

/** `perwatt bundle`: a run as one file that its receiver can work out again. */
export const bundleCommand = (io: Io, version: string): Command =>
  new Command('bundle')
    .description('Pack a run as a submission that its receiver can work out again, or check one')
    .argument('[run]', 'run folder')
    .option('--out <file>', 'the bundle; it must not exist')
    .option('--no-texts', 'leave prompts, completions and answers out')
    .option('--keep <name...>', 'names that stay as they are')
    .option('--json', 'print what was packed as JSON')
    .addHelpText('after', help)
    .addCommand(bundleCheckCommand(io, version))
    .action((path: string | undefined, flags: BundleFlags) =>
      withScratch((scratch) => pack(path, flags, { io, scratch })),
    );

interface Place {
  readonly io: Io;
  readonly scratch: string;
}

async function pack(path: string | undefined, flags: BundleFlags, { io, scratch }: Place): Promise<void> {
  if (path === undefined) throw new PerwattError('USAGE', 'give a run folder, or `check` and a bundle');
  if (flags.out === undefined) throw new PerwattError('USAGE', 'name the bundle with --out');
  const out = resolve(io.cwd, flags.out);
  if (existsSync(out))
    throw new PerwattError('INPUT_INVALID', `${out} exists already`, {
      hint: 'Name a new file with `--out`.',
    });
  const shared = openShared(resolve(io.cwd, path));
  refuseDamaged(shared.run.path);
  const root = join(scratch, 'copy');
  mkdirSync(root);
  const { copied, claims } = await claimed(shared, root, { io, flags });
  const redacted = { ...copied.redactions, texts: !flags.texts };
  const { manifest, bytes } = await packBundle(out, { copied, claims, redacted, scratch });
  if (flags.json) return io.print(JSON.stringify({ out, bytes, manifest }));
  io.print(redactionLine(copied.redactions));
  io.print(`${relative(io.cwd, out)}: ${manifest.files.length} files, ${bytes} bytes`);
}

interface Claimed {
  readonly copied: RedactedRun | RedactedTraining;
  readonly claims: BundleClaims;
}

/** A copy of a run without what is private, and the results that are claimed for it. */
async function claimed(
  shared: SharedRun,
  root: string,
  { io, flags }: { readonly io: Io; readonly flags: BundleFlags },
): Promise<Claimed> {
  const options = { io, keep: flags.keep ?? [], texts: flags.texts ? 'keep' : 'drop' } as const;
  if (shared.kind === 'training') {
    const copied = redactedTraining(shared.run, root, options);
    const { run_id, perwatt_version } = copied.run.manifest;
    const json = trainingClaims(reportOf(copied.run));
    return { copied, claims: { run_id, perwatt_version, metric_spec_version: METRIC_SPEC_VERSION, json } };
  }
  const copied = redactedRun(shared.run, root, options);
  const results = await computeResults(copied.run);
  return { copied, claims: { ...results, json: resultsJson(results) } };
}
