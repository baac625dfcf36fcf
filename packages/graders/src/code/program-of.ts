import { definesName } from './code-of-reply.js';

/** What a task gives beside the answer: the code it began with, the function it asks for, and the tests. */
export interface CodeTask {
  readonly prompt: string;
  readonly entry_point: string;
  readonly test: string;
}

/** The task of an item's `data`; why there is none otherwise. */
export function codeTaskOf(data: Readonly<Record<string, unknown>> | undefined): CodeTask | string {
  const { prompt, entry_point, test } = data ?? {};
  if (typeof prompt !== 'string' || typeof entry_point !== 'string' || typeof test !== 'string')
    return 'the item has no prompt, entry point and tests';
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(entry_point)
    ? { prompt, entry_point, test }
    : 'its entry point is no name';
}

/**
 * The program that shows whether code is right. Code that defines the function stands alone, with the imports of the prompt before it; other code
 * is the function's body and goes behind the prompt as it is.
 */
export function programOf(code: string, { prompt, entry_point, test }: CodeTask): string {
  const solution = definesName(code, entry_point)
    ? `${headOf(prompt, entry_point)}\n${code}`
    : bodyBehind(prompt, code);
  return `${solution}\n${test}\ncheck(${entry_point})\n`;
}

/** As the benchmark itself puts it together: whatever came, behind the prompt. */
export const officialProgramOf = (completion: string, { prompt, entry_point, test }: CodeTask): string =>
  `${prompt}${completion}\n${test}\ncheck(${entry_point})`;

/** Everything of the prompt before the function: imports and helpers. */
function headOf(prompt: string, entry_point: string): string {
  const at = prompt.search(new RegExp(`^(?:async[ \\t]+)?def[ \\t]+${entry_point}\\b`, 'm'));
  return at < 0 ? '' : prompt.slice(0, at);
}

/** A body that lost the blanks of its first line gets them back. */
function bodyBehind(prompt: string, code: string): string {
  const body = code.replace(/^(?:[ \t]*\n)+/, '');
  const [first = '', ...rest] = body.split('\n');
  const next = rest.find((line) => line.trim() !== '');
  const lost = /^\S/.test(first) && (next === undefined || /^[ \t]/.test(next));
  const start = prompt.endsWith('\n') ? prompt : `${prompt}\n`;
  return `${start}${lost ? '    ' : ''}${body}`;
}
