import { dirname, isAbsolute } from 'node:path';
import { PerwattError } from '@perwatt/core';
import type { SiteRun } from '../site/site-model.js';
import { accountTraining, type TrainingReport } from './training-account.js';

/**
 * The training runs that the policies of some runs came from, each once: those behind endpoints `recipe:<id>@<checkpoint>`. One
 * that is not here, or can't be read, is left out.
 */
export function trainingsBehind(runs: readonly Pick<SiteRun, 'run'>[]): TrainingReport[] {
  const urls = runs.flatMap(({ run }) => Object.values(run?.manifest.matrix.endpoints ?? {}));
  const folders = urls.flatMap(({ url }) => {
    const checkpoint = /^recipe:[a-z_]+@(.+)$/.exec(url)?.[1];
    return checkpoint !== undefined && isAbsolute(checkpoint) ? [dirname(dirname(checkpoint))] : [];
  });
  return [...new Set(folders)].flatMap((folder) => readIfThere(folder) ?? []);
}

function readIfThere(folder: string): TrainingReport | null {
  try {
    return accountTraining(folder);
  } catch (error) {
    if (error instanceof PerwattError) return null;
    throw error;
  }
}
