import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import type { RateTrial, SearchStep } from '@perwatt/harness';
import type { SearchPlan } from './find-rate-flags.js';
import type { ReplayFlags } from './replay-session.js';

/** Version of `search.json`. */
const SEARCH_VERSION = 1;
const FILE = 'search.json';

/** One trial as the search keeps it; all its calls are in its run. Null where something can't be told. */
export interface SearchTrial extends RateTrial {
  readonly trial: number;
  readonly repeat: number;
  readonly seed: number;
  /** Folder of its run, from that of the search. */
  readonly run: string;
  readonly calls: number;
  readonly ok: number;
  readonly failed: number;
  readonly offered_per_s: number | null;
  readonly achieved_per_s: number | null;
  readonly goodput_per_s: number | null;
  readonly good_fraction: number | null;
  readonly ttft_any_p99_ns: number | null;
  readonly tpot_p99_ns: number | null;
  readonly e2e_from_schedule_p99_ns: number | null;
  readonly energy_j: number | null;
  readonly energy_per_call_j: number | null;
  readonly energy_per_output_token_j: number | null;
  /** Why the client may have set the result; empty where nothing points to it. */
  readonly client_limited: readonly string[];
}

/** How a search ended. */
export type SearchEnd = Omit<Extract<SearchStep, { readonly kind: 'end' }>, 'kind'>;

/** `search.json`: what is searched for, the trials that ended, and how it ended; null while it goes on. */
export interface SearchFile extends SearchPlan {
  readonly search_version: number;
  readonly trace: { readonly path: string; readonly sha256: string };
  readonly endpoint: string;
  readonly flags: Omit<ReplayFlags, 'resume' | 'json' | 'quiet' | 'out' | 'endpoint'>;
  readonly trials: readonly SearchTrial[];
  readonly end: SearchEnd | null;
}

/** A search of which nothing was tried yet. */
export const freshSearch = (
  parts: Pick<SearchFile, 'search' | 'trial_s' | 'good_share' | 'trace' | 'endpoint' | 'flags'>,
): SearchFile => ({ search_version: SEARCH_VERSION, ...parts, trials: [], end: null });

export const isSearchFolder = (folder: string): boolean => existsSync(join(folder, FILE));

/** Throws `INPUT_INVALID` for a file that is none of this version. */
export function readSearch(folder: string): SearchFile {
  const path = join(folder, FILE);
  try {
    const file = JSON.parse(readFileSync(path, 'utf8')) as SearchFile;
    if (file.search_version === SEARCH_VERSION && Array.isArray(file.trials)) return file;
  } catch (error) {
    throw new PerwattError('INPUT_INVALID', `${path} is no search: ${messageOf(error)}`, { cause: error });
  }
  throw new PerwattError('INPUT_INVALID', `${path} is no search of this version of Perwatt`);
}

/** Written to another name and renamed, so that there is always a whole one. */
export function writeSearch(folder: string, file: SearchFile): void {
  const path = join(folder, FILE);
  writeFileSync(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { flush: true });
  renameSync(`${path}.new`, path);
}
