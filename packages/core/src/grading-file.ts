import * as z from 'zod';

const name = z.string().min(1).max(200);

const rater = {
  endpoint: name.describe('Name of an entry of `endpoints`'),
  model: name.describe('The model, as that endpoint knows it'),
  max_tokens: z.int().min(16).max(65_536).optional().describe('Longest reply; default 1024'),
  temperature: z.number().min(0).max(2).optional().describe('Default 0'),
  workers: z.int().min(1).max(256).optional().describe('Calls at a time; default 4'),
};

/** Key `grading`: what judges answers beyond the built-in graders, when nothing is being measured. */
export const Grading = z
  .strictObject({
    allow_code: z
      .boolean()
      .optional()
      .describe('Run the code of answers, in a sandbox; without it such answers are unscored'),
    judge: z.strictObject(rater).optional().describe('Model that judges answers of the grader `judge`'),
    verifier: z
      .strictObject({
        ...rater,
        threshold: z
          .number()
          .min(0)
          .max(1)
          .optional()
          .describe('Least score of a correct answer; default 0.5'),
      })
      .optional()
      .describe('Model that scores answers of the grader `verifier`'),
  })
  .describe(
    'Who judges what the built-in graders cannot; it has a ledger of its own and is never measured with the model',
  );
export type Grading = z.infer<typeof Grading>;
