import { resolve } from 'node:path';
import { PerwattError, type ZeroOutputPolicy } from '@perwatt/core';
import { openRun, type RunFolder } from '@perwatt/records';
import type { FindRateFlags } from './find-rate-flags.js';
import type { Io } from './io.js';
import type { ArrivalFlags } from './replay-arrivals.js';
import type { TokenizerName } from './replay-tokens.js';
import type { TurnFlags } from './replay-turns.js';

/** What the command line of a replay says. */
export interface ReplayFlags extends ArrivalFlags, FindRateFlags, Omit<TurnFlags, 'shape'> {
  readonly tokenizer?: TokenizerName;
  readonly templateTokens?: number;
  readonly endpoint?: string;
  readonly model?: string;
  readonly api: 'chat' | 'completion';
  readonly apiKeyEnv?: string;
  readonly format?: string;
  readonly zeroOutput: ZeroOutputPolicy;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly maxRows?: number;
  readonly workers: number;
  readonly seed: number;
  readonly gaps: boolean;
  readonly check: boolean;
  readonly baseline: string;
  readonly slo?: string;
  readonly steady?: string;
  readonly power?: string;
  readonly headersTimeout: string;
  readonly idleTimeout: string;
  readonly maxFailed: number;
  readonly out: string;
  readonly resume?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Everything that says what is replayed; of a resumed run, as its manifest holds it. */
export interface ReplaySession {
  readonly flags: ReplayFlags;
  readonly trace: string;
  readonly endpoint: string;
  readonly run: RunFolder | null;
}

/** A new replay. Throws `USAGE` where something is missing. */
export function freshReplay(trace: string | undefined, flags: ReplayFlags, { cwd }: Io): ReplaySession {
  if (trace === undefined) throw new PerwattError('USAGE', 'no trace file was given');
  if (flags.endpoint === undefined) throw new PerwattError('USAGE', 'no --endpoint was given');
  return { flags, trace: resolve(cwd, trace), endpoint: flags.endpoint, run: null };
}

/** A replay to go on with. Throws `USAGE` and `INPUT_INVALID` where it can't be. */
export function resumedReplay(trace: string | undefined, flags: ReplayFlags, { cwd }: Io): ReplaySession {
  if (trace !== undefined) throw new PerwattError('USAGE', 'a trace cannot be given with --resume');
  const run = openRun(resolve(cwd, flags.resume ?? ''));
  const [dataset] = run.manifest.matrix.axes.dataset;
  const kept = dataset?.['flags'];
  if (dataset?.kind !== 'trace' || typeof kept !== 'object')
    throw new PerwattError('INPUT_INVALID', `run ${run.manifest.run_id} is no replay`, {
      hint: 'Go on with it by `perwatt run --resume`.',
    });
  const { resume, json, quiet, slo, steady, apiKeyEnv } = flags;
  const own = { resume, json, quiet, slo, steady, apiKeyEnv };
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return {
    flags: { ...flags, ...(kept as Partial<ReplayFlags>), ...given },
    trace: String(dataset['path']),
    endpoint: run.manifest.matrix.endpoints?.['target']?.url ?? '',
    run,
  };
}

/** Flags that a resume takes from the run. */
export const keptFlags = ({ resume, json, quiet, out, endpoint, ...kept }: ReplayFlags) => kept;
