import { fileSet } from '../file-set.js';
import { mathParts } from '../math/math.js';
import { mathPrompts } from '../math/math-prompts.js';
import { math500Card } from './card.js';

/** MATH-500. */
export const math500 = fileSet({
  card: math500Card,
  answer_tokens: 2048,
  prompts: mathPrompts,
  read: (row) => mathParts(row),
});
