import type { ErrorCode, Grade, GradeInput } from '@perwatt/core';

/** What a worker of a grader pool is asked. */
export interface WorkerTask {
  /** Name of the grader. */
  readonly grader: string;
  readonly input: GradeInput;
}

/** What it says: that it is there, a grade, that the input can't be judged as asked, or that the grader broke. */
export type WorkerAnswer =
  | { readonly kind: 'ready'; readonly thread: string | null }
  | { readonly kind: 'grade'; readonly grade: Grade }
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly message: string;
      readonly hint: string;
    }
  | { readonly kind: 'failed'; readonly message: string };
