/** A planning problem as its text tells it. */
export interface Statement {
  readonly domain: 'blocksworld' | 'mystery-blocksworld';
  readonly init: readonly (readonly string[])[];
  readonly goal: readonly (readonly string[])[];
  /** Objects by their name in the text: `red block` → `a`. */
  readonly objects: Readonly<Record<string, string>>;
}

/** Letters of the encoding that PlanBench uses for colours. */
const COLOURS: Readonly<Record<string, string>> = {
  red: 'a',
  blue: 'b',
  orange: 'c',
  yellow: 'd',
  white: 'e',
  magenta: 'f',
  black: 'g',
  cyan: 'h',
  green: 'i',
  violet: 'j',
  silver: 'k',
  gold: 'l',
};

type Shape = readonly [phrase: RegExp, predicate: string];

const shapes: Readonly<Record<Statement['domain'], readonly Shape[]>> = {
  blocksworld: [
    [/^the hand is empty$/, 'handempty'],
    [/^the hand is currently holding (?:the )?(\w+) block$/, 'holding'],
    [/^the (\w+) block is clear$/, 'clear'],
    [/^the (\w+) block is on the table$/, 'ontable'],
    [/^the (\w+) block is on top of the (\w+) block$/, 'on'],
  ],
  'mystery-blocksworld': [
    [/^harmony$/, 'harmony'],
    [/^pain object (\w+)$/, 'pain'],
    [/^province object (\w+)$/, 'province'],
    [/^planet object (\w+)$/, 'planet'],
    [/^object (\w+) craves object (\w+)$/, 'craves'],
  ],
};

/**
 * The last statement of a prompt: initial facts and goal facts in the names of the planning domain. Returns the sentence that
 * can't be read where there is one.
 */
export function readStatement(query: string): Statement | { readonly unread: string } {
  const text = query.slice(query.lastIndexOf('[STATEMENT]'));
  const domain = /\bblock\b/.test(text) ? 'blocksworld' : 'mystery-blocksworld';
  const [init, goal] = [
    /initial conditions I have that,? (?<facts>[^.]*)\./.exec(text)?.groups?.['facts'],
    /goal is to have that (?<facts>[^.]*)\./.exec(text)?.groups?.['facts'],
  ];
  if (init === undefined || goal === undefined) return { unread: text.slice(0, 80) };
  const objects: Record<string, string> = {};
  const facts: (readonly string[])[][] = [];
  for (const sentence of [init, goal]) {
    const list: (readonly string[])[] = [];
    for (const phrase of sentence.split(/,\s*(?:and\s+)?|\s+and\s+/)) {
      const fact = factOf(phrase.trim(), domain, objects);
      if (fact === null) return { unread: phrase };
      list.push(fact);
    }
    facts.push(list);
  }
  return { domain, objects, init: facts[0] ?? [], goal: facts[1] ?? [] };
}

function factOf(
  phrase: string,
  domain: Statement['domain'],
  objects: Record<string, string>,
): readonly string[] | null {
  for (const [shape, predicate] of shapes[domain]) {
    const match = shape.exec(phrase);
    if (match === null) continue;
    return [predicate, ...match.slice(1).map((name) => symbolOf(name, domain, objects))];
  }
  return null;
}

function symbolOf(name: string, domain: Statement['domain'], objects: Record<string, string>): string {
  const symbol = domain === 'blocksworld' ? (COLOURS[name] ?? name) : name;
  objects[domain === 'blocksworld' ? `${name} block` : `object ${name}`] = symbol;
  return symbol;
}

/** The steps of a plan with objects by their symbols, `(stack a b)` a line. */
export const planOf = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) =>
      line.replaceAll(/[\w-]+/g, (word, at: number) => (at > 1 ? (COLOURS[word] ?? word) : word)),
    )
    .join('\n');
