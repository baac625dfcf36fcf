import { type Grade, type GradeInput, type Grader, type LateGrader, messageOf } from '@perwatt/core';

export interface JudgedAhead {
  readonly late: LateGrader;
  readonly signal?: AbortSignal;
  /** What becomes of a judgement that can't be had. Default: the rejection is passed on. */
  readonly failed?: (input: GradeInput, error: unknown) => Grade;
}

/**
 * A grader that knows its grades already. `ask` asks a stand-in for everything that the grader will be asked; `late` judges each once. What it was not
 * asked for is left to `grader`.
 */
export async function judgedAhead(
  grader: Grader,
  ask: (standIn: Grader) => void,
  { late, signal, failed }: JudgedAhead,
): Promise<Grader> {
  const inputs = new Map<string, GradeInput>();
  const note = (input: GradeInput): Grade => {
    inputs.set(keyOf(input), input);
    return unjudged(input, 'not judged yet');
  };
  ask({ ...grader, grade: note });
  const options = signal === undefined ? {} : { signal };
  const grades = new Map<string, Grade>();
  const judge = async ([key, input]: readonly [string, GradeInput]): Promise<void> => {
    const judging = late.gradeLater(input, options);
    const caught = failed === undefined ? judging : judging.catch((error: unknown) => failed(input, error));
    grades.set(key, await caught);
  };
  await Promise.all([...inputs].map(judge));
  return { ...grader, grade: (input) => grades.get(keyOf(input)) ?? grader.grade(input) };
}

const keyOf = (input: GradeInput): string => JSON.stringify(input);

/** A grade of something that nobody could judge. */
export const unjudged = (input: GradeInput, error: unknown): Grade => ({
  verdict: 'unscored',
  score: null,
  extracted: null,
  span: null,
  rule: null,
  salvaged: null,
  reason: messageOf(error),
  flags: [],
  mode: input.mode ?? 'robust',
});
