import type { GroundAction } from '../strips/ground.js';

/** A command that looks at something and changes nothing. */
export type Glance =
  | { readonly kind: 'look' }
  | { readonly kind: 'inventory' }
  | { readonly kind: 'examine'; readonly name: string }
  | { readonly kind: 'think' };

/** The command of an action, as it is listed. */
export function commandOf({ operator, objects: [first = '', second = ''] }: GroundAction): string {
  switch (operator) {
    case 'go':
      return `go to ${second}`;
    case 'take':
      return `take ${first} from ${second}`;
    case 'move':
      return `move ${first} to ${second}`;
    case 'switch-on':
    case 'switch-off':
      return `use ${first}`;
    case 'open':
    case 'close':
      return `${operator} ${first}`;
    default:
      return `${operator} ${first} with ${second}`;
  }
}

const rewrites: readonly (readonly [RegExp, string])[] = [
  [/^(?:walk|move|head) to (?=\D+ \d+$)/, 'go to '],
  [/^(?:pick up|grab|get) /, 'take '],
  [/^take (.+?) (?:off|out of|in|on) (?=\D+ \d+$)/, 'take $1 from '],
  [/^(?:put|place|move) (.+?) (?:in\/on|into|onto|in|on|to) (?=\D+ \d+$)/, 'move $1 to '],
  [/^(?:clean|wash|rinse) (.+?) (?:using|with|in|at) /, 'clean $1 with '],
  [/^(?:heat|warm) (.+?) (?:using|with|in) /, 'heat $1 with '],
  [/^(?:cool|chill) (.+?) (?:using|with|in) /, 'cool $1 with '],
  [/^(?:turn on|turn off|switch on|switch off|toggle) /, 'use '],
  [/^(?:look at|inspect) /, 'examine '],
  [/^look around$/, 'look'],
];

/** A command in the one form that is listed; other usual wordings are taken too. */
export function plainCommand(folded: string): string {
  const bare = folded.replaceAll(/\bthe /g, '');
  const [pattern, replacement] = rewrites.find(([each]) => each.test(bare)) ?? [];
  return pattern === undefined || replacement === undefined ? bare : bare.replace(pattern, replacement);
}

/** A command that only looks, or null. */
export function glanceOf(command: string): Glance | null {
  if (command === 'look' || command === 'inventory') return { kind: command };
  if (/^think\b/.test(command)) return { kind: 'think' };
  const name = /^examine (?<name>.+)$/.exec(command)?.groups?.['name'];
  return name === undefined ? null : { kind: 'examine', name };
}
