import type { GradeInput, Grader } from '@perwatt/core';
import { decide, decideOfficial, type Found } from './decide.js';
import { checkPolicies, choicePolicy } from './policy.js';
import { cutNextQuestion, prepare } from './prepare.js';
import type { Range } from './reasoning.js';
import { findAnswerLines, findAnswerTags, findBoxes } from './wrappers.js';

/**
 * Grades answers that must equal the gold as text. Robust mode takes the last `<answer>` element, box or `Answer:` line,
 * else the whole text; wrappers, closing marks and the width of blanks don't count, case does unless the policy `case` is
 * `ignore`. Official mode compares the raw text.
 */
export const exact: Grader = {
  id: 'exact',
  version: 1,
  grade(input) {
    checkPolicies(input.policy);
    if (input.mode === 'official') return gradeOfficial(input);
    const fold = choicePolicy(input.policy, 'case', ['match', 'ignore']) === 'ignore';
    const canonical = (text: string) => (fold ? bare(text).toLowerCase() : bare(text));
    const gold = canonical(prepare(input.gold).text);
    return decide<string>(input, {
      find: findAnswer,
      firstAnswerEnd,
      compare: (text) => ({ correct: canonical(text) === gold, reason: null, flags: [] }),
      goldProblem: gold === '' ? 'the gold answer is empty' : null,
    });
  },
  extract(text) {
    const prepared = prepare(text);
    if (prepared.unclosed) return null;
    const found = findAnswer(cutNextQuestion(prepared.text, firstAnswerEnd(prepared.text)));
    return found.status === 'found' ? bare(found.value) : null;
  },
  same: (a, b) => a === b,
};

const firstAnswerEnd = (text: string) =>
  text.trim() === '' ? null : text.length - text.trimStart().length + 1;

function findAnswer(text: string): Found<string> {
  const ranks: readonly (readonly [string, readonly Range[]])[] = [
    ['exact.format', [...findAnswerTags(text), ...findAnswerLines(text)].sort((a, b) => a[1] - b[1])],
    ['exact.boxed', findBoxes(text)],
    ['exact.text', [[0, text.length]]],
  ];
  for (const [rule, ranges] of ranks) {
    const range = ranges.map((r) => inner(text, r)).findLast(([start, end]) => end > start);
    if (range !== undefined)
      return {
        status: 'found',
        value: text.slice(...range),
        start: range[0],
        end: range[1],
        rule,
        flags: [],
      };
  }
  return { status: 'none', reason: 'nothing but marks in the answer', flags: [] };
}

/** A range without emphasis, quotes and blanks around it and without closing marks; brackets belong to the answer. */
function inner(text: string, [from, to]: Range): Range {
  const start =
    from + (/^[\s*_`"“$]{0,200}/.exec(text.slice(from, Math.min(to, from + 200)))?.[0].length ?? 0);
  const tail = text.slice(Math.max(start, to - 200), to);
  return [start, to - (/[\s*_`"”$.,;!]{1,200}$/.exec(tail)?.[0].length ?? 0)];
}

const bare = (text: string) => text.slice(...inner(text, [0, text.length])).replaceAll(/\s+/g, ' ');

function gradeOfficial(input: GradeInput) {
  return decideOfficial<string>(input, {
    find: (text) => ({
      status: 'found',
      value: text,
      start: 0,
      end: text.length,
      rule: 'exact.raw',
      flags: [],
    }),
    compare: (text) => ({ correct: text === input.gold, reason: null, flags: [] }),
    goldProblem: null,
  });
}
