const scale = `1 – complete and rigorous; 0.5 – sound on the whole, with small errors or details left out; 0 – a fatal error or a severe gap. Citing a source does not replace proving a step.`;

const block = (tag: string, text: string): string => `<${tag}>\n${text}\n</${tag}>`;

/** Asks for a whole solution and an honest judgement of it. */
export const proofPrompt = (task: string): string => `${task}

Write under the heading "## Solution" a complete solution that leaves no step out and ends with the final answer in the form asked for above. Then write under the heading "## Self Evaluation" what is weak or unproved in it, and end with your score for it in a box, \\boxed{0}, \\boxed{0.5} or \\boxed{1}:
${scale}`;

/** Asks to examine a solution. */
export const evaluationPrompt = (
  task: string,
  solution: string,
): string => `Examine a solution to a task. List every issue you find with the step it concerns. Then give one score in a box, \\boxed{0}, \\boxed{0.5} or \\boxed{1}:
${scale}

${block('task', task)}

${block('solution', solution)}`;

/** Asks to examine an examination. */
export const metaPrompt = (
  task: string,
  { solution, analysis }: { readonly solution: string; readonly analysis: string },
): string => `Someone examined a solution to a task. Judge only the defects they claim: are they really there, and do they justify the score they gave? Ignore praise; claiming no defect is reasonable. Give one score in a box: \\boxed{0} when no claimed defect is real, \\boxed{0.5} when some are not or the score does not fit them, else \\boxed{1}.

${block('task', task)}

${block('solution', solution)}

${block('examination', analysis)}`;

/** Asks for a better solution. */
export const refinePrompt = (
  task: string,
  { solution, analyses }: { readonly solution: string; readonly analyses: readonly string[] },
): string => `${proofPrompt(task)}

Here is an earlier solution, and what examiners said of it. Keep what is right, mend what is wrong, and write the whole solution anew.

${block('solution', solution)}
${analyses.map((analysis) => `\n${block('examination', analysis)}\n`).join('')}`;

/**
 * The score in the last box of a text: exactly 0, 0.5 or 1. Null for any other content and without a box, which is a failure of
 * format and no score of 0.
 */
export function readVerdict(text: string): 0 | 0.5 | 1 | null {
  const content = [...text.matchAll(/\\boxed\{\s*([^{}]*?)\s*\}/g)].at(-1)?.[1];
  if (content === '0') return 0;
  if (content === '0.5') return 0.5;
  return content === '1' ? 1 : null;
}

/** The solution without the writer's own judgement of it; the whole text where the headings are missing. */
export function solutionOf(text: string): string {
  const end = text.search(/^#*\s*\**\s*self[ -]evaluation\b/im);
  const body = end < 0 ? text : text.slice(0, end);
  const kept = body.replace(/^\s*#*\s*\**\s*solution\b\**\s*:?\s*\n/i, '').trim();
  return kept === '' ? text : kept;
}
