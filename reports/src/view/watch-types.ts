import { statSync } from 'node:fs';
import type { CellFile, RunManifest } from '@perwatt/records';

/** Power of one domain, of late. */
export interface WatchedDomain {
  readonly domain: string;
  readonly source: string;
  readonly provenance: string;
  readonly in_total: boolean;
  /** Mean since the point before, W; null before there are two. */
  readonly power_w: number | null;
  /** Seconds since the run began, and W. */
  readonly t_s: readonly number[];
  readonly w: readonly number[];
}

export interface WatchedPower {
  /** Sum of the domains of the total, W; null where one isn't known or there is none. */
  readonly total_w: number | null;
  readonly domains: readonly WatchedDomain[];
}

/** One cell as far as it is. */
export interface WatchedCell {
  readonly cell_id: string;
  readonly label: string;
  readonly status: CellFile['status'];
  readonly verdict: string | null;
  /** Queries that it is to have; null where that isn't known yet. */
  readonly planned: number | null;
  /** Calls of its measured windows so far, and those of them that failed. */
  readonly calls: number;
  readonly failed: number;
  /** Output tokens so far; null where a call has no count. */
  readonly tokens: number | null;
  /** Partial results, of the sittings that were closed: answered queries, their accuracy and joules each. */
  readonly queries: number;
  readonly accuracy: number | null;
  readonly energy_per_query_j: number | null;
}

/** A run as it stands. */
export interface WatchState {
  readonly run_id: string;
  readonly name: string;
  readonly status: RunManifest['status'];
  readonly cells_done: number;
  readonly cells_planned: number;
  readonly queries_done: number;
  /** Null where a cell doesn't know how many it is to have. */
  readonly queries_planned: number | null;
  /** Over the last ten seconds on record, 1/s; null before there are any. */
  readonly tokens_per_s: number | null;
  readonly calls_per_s: number | null;
  readonly power: WatchedPower;
  readonly cells: readonly WatchedCell[];
  /** Bytes read from the run so far, by the last look, and whether more is there than was read. */
  readonly bytes_read: number;
  readonly bytes_last: number;
  readonly behind: boolean;
  /** Files that could not be followed, and why. */
  readonly problems: readonly string[];
}

/** Bytes that may still be read in this look. */
export interface ReadBudget {
  left: number;
}

/** What tells one version of a file from another. */
export function stampOf(file: string): { readonly key: string; readonly size: number } | null {
  const facts = statSync(file, { throwIfNoEntry: false });
  return facts === undefined
    ? null
    : { key: `${facts.mtimeMs} ${facts.size} ${facts.ino}`, size: facts.size };
}
