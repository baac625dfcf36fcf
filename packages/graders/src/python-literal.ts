import { canonicalNumber } from './python-number.js';
import { createTextReader } from './python-text.js';

const MAX_DEPTH = 64;
const MAX_LENGTH = 100_000;

/**
 * A Python literal as one canonical text: two literals have the same text exactly when Python calls their values equal
 * (`1`, `1.0` and `True`; dicts and sets in any order; a tuple is no list). Names `inf` and `nan` are read too, and `nan` is
 * itself here. Takes None, booleans, numbers with signs, strings and bytes with prefixes and escapes, adjacent ones joined,
 * tuples (without brackets as well), lists, dicts, sets, `set()` and `frozenset(…)`. Null for anything else, and for more
 * than 64 levels or 100,000 characters.
 */
export function canonicalLiteral(source: string): string | null {
  if (source.length > MAX_LENGTH) return null;
  const reader = createReader(source);
  try {
    return reader.whole();
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  }
}

class Unreadable extends Error {}

function fail(): never {
  throw new Unreadable();
}

function createReader(source: string) {
  let at = 0;
  let depth = 0;
  const blanks = () => {
    at += /^(?:\s|#[^\n]*|\\\n)*/.exec(source.slice(at))?.[0].length ?? 0;
  };
  const takes = (text: string): boolean => {
    blanks();
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  };
  const demand = (text: string) => {
    if (!takes(text)) fail();
  };
  const texts = createTextReader(source, fail);

  const nested = <T>(read: () => T): T => {
    depth += 1;
    if (depth > MAX_DEPTH) fail();
    const value = read();
    depth -= 1;
    return value;
  };

  const until = (close: string): { readonly items: string[]; readonly comma: boolean } => {
    const items: string[] = [];
    let comma = false;
    while (!takes(close)) {
      if (items.length > 0 && !comma) fail();
      items.push(value());
      comma = takes(',');
    }
    return { items, comma };
  };

  const braces = (): string => {
    const items: string[] = [];
    const entries = new Map<string, string>();
    let comma = true;
    while (!takes('}')) {
      if (!comma) fail();
      const key = value();
      if (takes(':')) entries.set(key, value());
      else items.push(key);
      comma = takes(',');
    }
    if (items.length > 0 && entries.size > 0) fail();
    if (items.length > 0) return setOf(items);
    return `{${[...entries]
      .map(([key, val]) => `${key}:${val}`)
      .sort()
      .join(',')}}`;
  };

  const parenthesised = (): string => {
    const { items, comma } = until(')');
    return items.length === 1 && !comma ? (items[0] ?? fail()) : tupleOf(items);
  };

  const called = (name: string): string => {
    demand('(');
    if (takes(')')) return setOf([]);
    if (name === 'set' || name === 'frozenset') {
      const inner = value();
      demand(')');
      return setOf(membersOf(inner));
    }
    return fail();
  };

  const bracketed = (): string | null => {
    if (takes('[')) return `[${until(']').items.join(',')}]`;
    if (takes('(')) return parenthesised();
    return takes('{') ? braces() : null;
  };

  const quoted = (): string | null => {
    const text = texts.read(at);
    if (text !== null) at = text.end;
    return text?.canonical ?? null;
  };

  const value = (): string =>
    nested(() => bracketed() ?? quoted() ?? (/[-+.\d]/.test(source.charAt(at)) ? number() : named()));

  const number = (): string => {
    const match = /^[-+.\w\s]*/.exec(source.slice(at))?.[0] ?? '';
    const read = canonicalNumber(match);
    if (read === null) return fail();
    at += read.length;
    return read.canonical;
  };

  const named = (): string => {
    const name = /^[A-Za-z_]+/.exec(source.slice(at))?.[0] ?? '';
    if (['inf', 'nan', 'infj', 'nanj'].includes(name)) return number();
    at += name.length;
    if (name === 'None') return 'None';
    if (name === 'True') return '1';
    if (name === 'False') return '0';
    if (name === 'set' || name === 'frozenset') return called(name);
    return fail();
  };

  const whole = (): string => {
    const first = value();
    blanks();
    if (at === source.length) return first;
    const items = [first];
    while (takes(',')) {
      blanks();
      if (at === source.length) break;
      items.push(value());
    }
    blanks();
    return at === source.length ? tupleOf(items) : fail();
  };

  return { whole };
}

const tupleOf = (items: readonly string[]) => `(${items.map((item) => `${item},`).join('')})`;
const setOf = (items: readonly string[]) => `set{${[...new Set(items)].sort().join(',')}}`;

/** Members of a canonical list or tuple, cut at commas that stand in no bracket and no string. */
function membersOf(canonical: string): string[] {
  const open = canonical.search(/[[({]/);
  if (open === -1 || (open > 0 && !canonical.startsWith('set{'))) return fail();
  const body = canonical.slice(open + 1, -1);
  const members: string[] = [];
  let [depth, start] = [0, 0];
  for (const mark of body.matchAll(/"(?:[^"\\]|\\.)*"|[[({\])},]/g)) {
    if ('[({'.includes(mark[0])) depth += 1;
    else if ('])}'.includes(mark[0])) depth -= 1;
    else if (mark[0] === ',' && depth === 0) {
      members.push(body.slice(start, mark.index));
      start = mark.index + 1;
    }
  }
  return start < body.length ? [...members, body.slice(start)] : members;
}
