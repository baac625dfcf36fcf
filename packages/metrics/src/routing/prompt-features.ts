/** Version and names of the features that a prompt is told by. A change of either needs a new version. */
export const PROMPT_FEATURES = 'prompt/1';

/** Names of `promptFeatures`, in its order. */
export const promptFeatureNames = [
  'log_characters',
  'log_words',
  'mean_word_length',
  'digit_share',
  'upper_case_share',
  'symbol_share',
  'log_lines',
  'log_question_marks',
  'option_lines',
  'has_code',
] as const;

const share = (text: string, pattern: RegExp): number =>
  text.length === 0 ? 0 : (text.match(pattern)?.length ?? 0) / text.length;

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Cheap features of a prompt for a router: no model is asked. Same order as `promptFeatureNames`. */
export function promptFeatures(prompt: string): number[] {
  const words = prompt.split(/\s+/).filter((word) => word !== '');
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  return [
    Math.log1p(prompt.length),
    Math.log1p(words.length),
    words.length === 0 ? 0 : letters / words.length,
    share(prompt, /\p{Nd}/gu),
    share(prompt, /\p{Lu}/gu),
    share(prompt, /[\p{P}\p{S}]/gu),
    Math.log1p(count(prompt, /\n/g)),
    Math.log1p(count(prompt, /\?/g)),
    count(prompt, /^\s*\(?[A-J][).:]\s/gm),
    /```|[{};]\s*$|\bdef \w+\(|\bfunction\b/m.test(prompt) ? 1 : 0,
  ];
}
