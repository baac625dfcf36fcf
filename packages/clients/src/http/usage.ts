import type { Usage } from '@perwatt/core';
import { asCount, asObject } from './json.js';

/** A usage block with both counts; null for anything else, so that no count is ever made up. */
export function usageOf(value: unknown): Usage | null {
  const usage = asObject(value);
  const prompt = asCount(usage?.['prompt_tokens']);
  const completion = asCount(usage?.['completion_tokens']);
  if (usage === null || prompt === null || completion === null) return null;
  const cached = asCount(asObject(usage['prompt_tokens_details'])?.['cached_tokens']);
  const reasoning = asCount(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    ...(cached === null ? {} : { cached_tokens: cached }),
    ...(reasoning === null ? {} : { reasoning_tokens: reasoning }),
  };
}
