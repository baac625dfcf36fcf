import type { Grade, GradeInput } from '@perwatt/core';

/** A grade with nothing extracted: score 0, null when `unscored`, unless `rest` says more. */
export const plainGrade = (
  input: Pick<GradeInput, 'mode'>,
  verdict: Grade['verdict'],
  rest: Partial<Grade> = {},
): Grade => ({
  verdict,
  score: verdict === 'unscored' ? null : 0,
  extracted: null,
  span: null,
  rule: null,
  salvaged: null,
  reason: null,
  flags: [],
  mode: input.mode ?? 'robust',
  ...rest,
});
