import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import { openRun } from '@perwatt/records';
import { RESULTS_VERSION, type StoredResults } from '@perwatt/reports';
import { computeResults } from './compute-results.js';

/**
 * The results that a path holds: a run folder (worked out now), a publication or report, or a `results.json`. Throws
 * `INPUT_INVALID` for anything else, `RUN_SCHEMA_NEWER` for results of a newer version.
 */
export async function storedResults(path: string): Promise<StoredResults[]> {
  if (!existsSync(path)) throw new PerwattError('FILE_UNREADABLE', `there is nothing at ${path}`);
  if (!statSync(path).isDirectory()) return parsed(path);
  if (existsSync(join(path, 'run.json'))) return [await computeResults(openRun(path))];
  const own = join(path, 'results.json');
  if (existsSync(own)) return parsed(own);
  const runs = join(path, 'runs');
  const files = existsSync(runs)
    ? readdirSync(runs)
        .sort()
        .map((run) => join(runs, run, 'results.json'))
    : [];
  const found = files.filter((file) => existsSync(file));
  if (found.length > 0) return found.flatMap(parsed);
  throw new PerwattError('INPUT_INVALID', `${path} is neither a run, a publication nor a report`, {
    hint: 'Give a run folder, a folder that `perwatt publish` or `report` wrote, or a results.json.',
  });
}

function parsed(file: string): StoredResults[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new PerwattError('INPUT_INVALID', `${file} cannot be read as results: ${messageOf(cause)}`, {
      cause,
    });
  }
  const several = typeof value === 'object' && value !== null && 'runs' in value && Array.isArray(value.runs);
  const list: readonly unknown[] = several ? (value as { readonly runs: readonly unknown[] }).runs : [value];
  return list.map((one) => checked(file, one));
}

function checked(file: string, value: unknown): StoredResults {
  if (typeof value !== 'object' || value === null || !('results_version' in value) || !('cells' in value))
    throw new PerwattError('INPUT_INVALID', `${file} holds no results`);
  const version = Number(value.results_version);
  if (!(version <= RESULTS_VERSION))
    throw new PerwattError(
      'RUN_SCHEMA_NEWER',
      `${file} has results version ${String(value.results_version)}; this version reads up to ${RESULTS_VERSION}`,
    );
  return value as StoredResults;
}
