import { didYouMean, PerwattError } from '@perwatt/core';
import * as z from 'zod';

const sampling = {
  temperature: z.number().min(0).max(10),
  top_p: z.number().gt(0).max(1),
  max_tokens: z.int().positive().optional(),
  system: z.string().min(1).optional(),
};

/** Parameters of a strategy that asks once. */
export const SingleParams = z.strictObject({
  temperature: sampling.temperature.default(0).describe('0 is greedy decoding'),
  top_p: sampling.top_p.default(1).describe('Nucleus share'),
  max_tokens: sampling.max_tokens.describe('Longest completion; default: that of the cell'),
  system: sampling.system.describe('System message put before the prompt'),
});
/** Parameters that were checked, defaults filled in. */
export type SingleParams = z.infer<typeof SingleParams>;

/** Parameters of a strategy that asks several times and votes. */
export const SelfConsistencyParams = z.strictObject({
  attempts: z.int().min(1).max(1024).default(5).describe('Independent generations for an item'),
  temperature: sampling.temperature.default(0.7),
  top_p: sampling.top_p.default(1).describe('Nucleus share'),
  max_tokens: sampling.max_tokens.describe('Longest completion of one attempt; default: that of the cell'),
  system: sampling.system.describe('System message put before the prompt'),
});
/** Parameters that were checked, defaults filled in. */
export type SelfConsistencyParams = z.infer<typeof SelfConsistencyParams>;

/** A checker of parameters that says all that is wrong with them in one `INPUT_INVALID`. */
export const parameters = <S extends z.ZodObject>(strategy: string, schema: S) => ({
  parse(input: unknown): z.infer<S> {
    const result = schema.safeParse(input ?? {});
    if (result.success) return result.data;
    const known = Object.keys(schema.shape);
    const problems = result.error.issues.map((issue) => problem(issue, known));
    throw new PerwattError('INPUT_INVALID', `strategy "${strategy}": ${problems.join('; ')}`);
  },
});

function problem(issue: z.core.$ZodIssue, known: readonly string[]): string {
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .map(
        (key) =>
          `unknown parameter "${key}"${didYouMean(key, known).replace('; ', ' (').replace(/\??$/, ')')}`,
      )
      .join('; ');
  const name = issue.path.length === 0 ? 'the parameters' : `"${issue.path.join('.')}"`;
  return `${name}: ${issue.message.charAt(0).toLowerCase()}${issue.message.slice(1)}`;
}
