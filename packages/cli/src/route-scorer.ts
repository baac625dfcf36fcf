import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { PerwattError } from '@perwatt/core';
import type { RouteScorer } from '@perwatt/harness';
import { PROMPT_FEATURES, parseRouterModel, promptFeatures, routerScore } from '@perwatt/metrics';

/** Reads a fitted router for prompts. Throws `FILE_UNREADABLE`, and `INPUT_INVALID` for a file that is none or asks for other features. */
export async function routeScorer(file: string): Promise<RouteScorer> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new PerwattError('FILE_UNREADABLE', `router file ${file} can't be read`, { cause });
  });
  const model = parseRouterModel(text, file);
  if (model.feature_set !== PROMPT_FEATURES)
    throw new PerwattError(
      'INPUT_INVALID',
      `router file ${file} was fitted on features "${model.feature_set}", not "${PROMPT_FEATURES}" of prompts`,
      { hint: 'Fit it anew with `perwatt route RUN --router learned --out FILE`.' },
    );
  return {
    sha256: createHash('sha256').update(text).digest('hex'),
    threshold: model.threshold,
    score: (prompt) => routerScore(model, promptFeatures(prompt)),
  };
}
