import type { GradeInput, Grader } from '@perwatt/core';
import { findAnchors } from './anchors.js';
import { decide, decideOfficial, type Found } from './decide.js';
import { checkPolicies, choicePolicy } from './policy.js';
import { cutNextQuestion, prepare } from './prepare.js';
import type { Range } from './reasoning.js';
import { normaliseAnswer, type OverlapRules, overlapOf } from './token-overlap.js';
import { findAnswerLines, findAnswerTags, findBoxes, lastLine } from './wrappers.js';

/**
 * Grades short answers by exact match and token F1 after the normalisation of SQuAD. `correct` is an exact match with the
 * gold or one of its `aliases`; the score is the best F1 of them, so that a partly right answer counts in part. Robust mode
 * takes the last `<answer>` element or `Answer:` line, a box, what follows "the answer is", else the last line; official
 * mode takes the whole reply. The policy `f1`, or `data.f1` of the item, names the rules for yes and no and for empty answers:
 * `hotpot` (HotpotQA, 2WikiMultiHopQA; default) or `squad2` (MuSiQue, SQuAD 2).
 */
export const emF1: Grader = {
  id: 'em_f1',
  version: 2,
  grade(input) {
    checkPolicies(input.policy);
    const rules = rulesOf(input);
    const written = [input.gold, ...(input.aliases ?? [])];
    const golds = input.mode === 'official' ? written : written.map((gold) => prepare(gold).text);
    const judge = {
      compare: (text: string) => compare(text, golds, rules),
      goldProblem:
        rules === 'hotpot' && golds.every((gold) => normaliseAnswer(gold) === '')
          ? 'the gold answer is empty once articles and punctuation are gone'
          : null,
    };
    if (input.mode === 'official') return decideOfficial<string>(input, { ...judge, find: whole });
    return decide<string>(input, { ...judge, find: findShort, firstAnswerEnd });
  },
  extract(text) {
    const prepared = prepare(text);
    if (prepared.unclosed) return null;
    const found = findShort(cutNextQuestion(prepared.text, firstAnswerEnd(prepared.text)));
    const answer = found.status === 'found' ? normaliseAnswer(found.value) : '';
    return answer === '' ? null : answer;
  },
  same: (a, b) => a === b,
};

function rulesOf({ policy, data }: GradeInput): OverlapRules {
  if (policy?.['f1'] !== undefined) return choicePolicy(policy, 'f1', ['hotpot', 'squad2']);
  return data?.['f1'] === 'squad2' ? 'squad2' : 'hotpot';
}

function compare(text: string, golds: readonly string[], rules: OverlapRules) {
  const overlaps = golds.map((gold) => overlapOf(text, gold, rules));
  const correct = overlaps.some(({ em }) => em);
  return { correct, score: Math.max(...overlaps.map(({ f1 }) => f1)), reason: null, flags: [] };
}

const whole = (text: string): Found<string> => found(text, [0, text.length], 'em_f1.raw');

const found = (text: string, [start, end]: Range, rule: string): Found<string> => ({
  status: 'found',
  value: text.slice(start, end),
  start,
  end,
  rule,
  flags: [],
});

const firstAnswerEnd = (text: string) =>
  text.trim() === '' ? null : text.length - text.trimStart().length + 1;

function findShort(text: string): Found<string> {
  const line = lastLine(text);
  const ranks: readonly (readonly [string, readonly Range[]])[] = [
    ['em_f1.format', [...findAnswerTags(text), ...findAnswerLines(text)].sort((a, b) => a[1] - b[1])],
    ['em_f1.boxed', findBoxes(text)],
    ['em_f1.anchor', findAnchors(text, 'answers').map(({ end }) => [end, phraseEnd(text, end)])],
    ['em_f1.line', line === null ? [] : [line]],
  ];
  for (const [rule, ranges] of ranks) {
    const range = ranges.map((r) => trimmed(text, r)).findLast(([start, end]) => end > start);
    if (range !== undefined) return found(text, range, rule);
  }
  return { status: 'none', reason: 'nothing but marks in the answer', flags: [] };
}

const MAX_PHRASE = 400;

/** End of the sentence or line an announced answer stands in; initials ("J. R. R.") and abbreviations don't end it. */
function phraseEnd(text: string, at: number): number {
  const slice = text.slice(at, at + MAX_PHRASE);
  const end = slice.search(
    /\n|(?<![\s.][A-Z]|^[A-Z]|\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs))\.(?=\s|$)|[!?](?=\s|$)/,
  );
  return at + (end === -1 ? slice.length : end);
}

function trimmed(text: string, [from, to]: Range): Range {
  const lead = /^[\s*_`"“$]{0,200}/.exec(text.slice(from, Math.min(to, from + 200)))?.[0].length ?? 0;
  const start = from + lead;
  const tail = text.slice(Math.max(start, to - 200), to);
  return [start, to - (/[\s*_`"”$]{1,200}$/.exec(tail)?.[0].length ?? 0)];
}
