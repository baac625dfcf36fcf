import type { GradeInput } from '@perwatt/core';
import { isObject } from '../data-fields.js';

export interface Criterion {
  readonly text: string;
  /** Above 0. */
  readonly weight: number;
}

/** What a judge is to do with an answer. */
export type JudgeTask =
  | {
      readonly way: 'reference';
      readonly question: string;
      readonly reference: string;
      readonly criteria: string | null;
    }
  | {
      readonly way: 'pairwise';
      readonly question: string;
      readonly other: string;
      readonly criteria: string | null;
    }
  | { readonly way: 'rubric'; readonly question: string; readonly rubric: readonly Criterion[] };

/** The task of a graded item: its `data` with `way`, `question`, and where they are needed `rubric` and `criteria`; why there is none otherwise. */
export function judgeTaskOf({ data, gold }: GradeInput): JudgeTask | string {
  const { way, question } = data ?? {};
  if (typeof question !== 'string' || question.trim() === '') return 'the item has no question for a judge';
  const criteria = typeof data?.['criteria'] === 'string' ? data['criteria'] : null;
  if (way === 'rubric') {
    const rubric = rubricOf(data?.['rubric']);
    return rubric === null ? 'its rubric is no list of criteria' : { way, question, rubric };
  }
  if (way !== 'reference' && way !== 'pairwise')
    return `the item says no way of judging: ${JSON.stringify(way)}`;
  if (gold.trim() === '') return 'the gold answer is empty';
  return way === 'reference'
    ? { way, question, reference: gold, criteria }
    : { way, question, other: gold, criteria };
}

function rubricOf(value: unknown): readonly Criterion[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > 100) return null;
  const criteria = value.map(criterionOf);
  return criteria.every((each) => each !== null) ? criteria : null;
}

function criterionOf(value: unknown): Criterion | null {
  if (typeof value === 'string') return value.trim() === '' ? null : { text: value, weight: 1 };
  if (!isObject(value)) return null;
  const { text, weight = 1 } = value;
  return typeof text === 'string' && typeof weight === 'number' && weight > 0 && Number.isFinite(weight)
    ? { text, weight }
    : null;
}
