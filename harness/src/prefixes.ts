import type { CallInput } from '@perwatt/core';

/** Prompts of a sitting by their prefix. */
export interface Prefixes {
  /** Share of `prompt`, 0…1, that an earlier one of `key` began with too; the longest counts. Notes the prompt. */
  share(key: string, prompt: string): number;
}

/** What is kept: of each key its latest different prompts, and of all keys the latest, by their length together. */
interface Kept {
  readonly prompts: number;
  readonly characters: number;
}

const defaultKept: Kept = { prompts: 64, characters: 8_000_000 };

/** Nothing noted yet. What is older than `kept` is forgotten, so that a long run takes no more memory than a short one. */
export function createPrefixes(kept: Kept = defaultKept): Prefixes {
  const known = new Map<string, Set<string>>();
  let characters = 0;
  const note = (key: string, own: Set<string>, prompt: string) => {
    own.add(prompt);
    characters += prompt.length;
    const [oldest] = own;
    if (own.size > kept.prompts && oldest !== undefined) {
      own.delete(oldest);
      characters -= oldest.length;
    }
    for (const [other, prompts] of known) {
      if (characters <= kept.characters || other === key) break;
      known.delete(other);
      for (const { length } of prompts) characters -= length;
    }
  };
  return {
    share(key, prompt) {
      const earlier = known.get(key) ?? new Set();
      known.delete(key);
      known.set(key, earlier);
      if (earlier.has(prompt)) return 1;
      let longest = 0;
      for (const other of earlier) longest = Math.max(longest, commonLength(other, prompt));
      note(key, earlier, prompt);
      return prompt.length === 0 ? 0 : longest / prompt.length;
    },
  };
}

/** Code units that two texts have in common from their beginning. */
function commonLength(a: string, b: string): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

/** The text of a prompt in the order in which a server reads it: tools, then turn by turn. */
export function promptText(input: CallInput): string {
  if (input.kind === 'completion') return input.prompt;
  const tools = input.tools === undefined ? '' : JSON.stringify(input.tools);
  return input.messages.reduce((text, { role, content, tool_calls }) => {
    const asked = tool_calls === undefined ? '' : JSON.stringify(tool_calls);
    return `${text}\0${role}\n${content}${asked}`;
  }, tools);
}
