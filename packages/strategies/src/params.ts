import { didYouMean, issueText, issueWords, PerwattError } from '@perwatt/core';
import * as z from 'zod';
import { parameterInfos } from './parameter-infos.js';

const temperature = z.number().min(0).max(10);

/** Fields by which every strategy's calls are sampled; the default temperature is its own. */
export const samplingFields = (default_temperature: number) => ({
  temperature: temperature.default(default_temperature).describe('0 is greedy decoding'),
  top_p: z.number().gt(0).max(1).default(1).describe('Nucleus share'),
  max_tokens: z
    .int()
    .positive()
    .optional()
    .describe('Longest completion of one call; default: that of the cell'),
  system: z.string().min(1).optional().describe('System message put before the prompt'),
});

/** How the calls of a strategy are sampled. */
export interface SamplingParams {
  readonly temperature: number;
  readonly top_p: number;
  readonly max_tokens?: number | undefined;
  readonly system?: string | undefined;
}

/** The logical name of an endpoint, which the matrix binds to a model. */
export const endpointName = z.string().regex(/^[a-z][a-z0-9_-]*$/, 'not a name of an endpoint');

/** A checker of parameters that says all that is wrong with them in one `INPUT_INVALID`. */
export const parameters = <S extends z.ZodObject>(strategy: string, schema: S) => ({
  describe: () => parameterInfos(schema),
  parse(input: unknown): z.infer<S> {
    const result = schema.safeParse(input ?? {}, { error: issueWords, reportInput: true });
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
  return issueText(name, issue);
}
