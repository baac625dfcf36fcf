/** A string or bytes literal, adjacent ones joined. */
export interface ReadText {
  readonly canonical: string;
  readonly end: number;
}

const OPENING = /^(?<prefix>[rRbBuU]{0,2})(?<quote>"""|'''|"|')/;
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '\n': '',
};

/** Reads string literals of `source`; `fail` is called for one that is opened and can't be read. */
export function createTextReader(source: string, fail: () => never) {
  const read = (start: number): ReadText | null => {
    let end = start;
    let text = '';
    let bytes: boolean | null = null;
    for (let one = readOne(end); one !== null; one = readOne(end + blanksAt(end))) {
      if (bytes !== null && bytes !== one.bytes) fail();
      bytes = one.bytes;
      text += one.text;
      end = one.end;
    }
    return bytes === null ? null : { canonical: `${bytes ? 'b' : ''}${JSON.stringify(text)}`, end };
  };

  const blanksAt = (at: number) => /^(?:\s|\\\n)*/.exec(source.slice(at, at + 1000))?.[0].length ?? 0;

  const readOne = (start: number) => {
    const opening = OPENING.exec(source.slice(start, start + 5))?.groups;
    if (opening === undefined) return null;
    const { prefix = '', quote = '' } = opening;
    const kind = prefix.toLowerCase();
    if (kind.includes('u') && kind.length > 1) fail();
    const bytes = kind.includes('b');
    const body = bodyAt(start + prefix.length + quote.length, { quote, raw: kind.includes('r'), bytes });
    return { ...body, bytes };
  };

  const bodyAt = (from: number, { quote, raw, bytes }: Quoting) => {
    let text = '';
    for (let at = from; at < source.length; ) {
      if (source.startsWith(quote, at)) return { text, end: at + quote.length };
      const piece = pieceAt(source, at, { raw, bytes });
      if (piece.text === '\n' && piece.length === 1 && quote.length === 1) fail();
      text += piece.text;
      at += piece.length;
    }
    return fail();
  };

  return { read };
}

interface Quoting {
  readonly quote: string;
  readonly raw: boolean;
  readonly bytes: boolean;
}

function pieceAt(source: string, at: number, { raw, bytes }: Omit<Quoting, 'quote'>) {
  if (source.charAt(at) !== '\\') return { text: source.charAt(at), length: 1 };
  return raw ? { text: source.slice(at, at + 2), length: 2 } : escapeAt(source, at, bytes);
}

/** What an escape stands for; one that Python does not know stays as it is. */
function escapeAt(
  source: string,
  at: number,
  bytes: boolean,
): { readonly text: string; readonly length: number } {
  const rest = source.slice(at, at + 11);
  const hex =
    /^\\x(?<code>[0-9a-fA-F]{2})/.exec(rest) ?? (bytes ? null : /^\\(?:u(?<code>[0-9a-fA-F]{4}))/.exec(rest));
  const long = bytes ? null : /^\\U(?<code>[0-9a-fA-F]{8})/.exec(rest);
  const code = (hex ?? long)?.groups?.['code'];
  if (code !== undefined) {
    const point = Number.parseInt(code, 16);
    return point > 0x10ffff
      ? { text: rest.slice(0, 2), length: 2 }
      : { text: String.fromCodePoint(point), length: (hex ?? long)?.[0].length ?? 2 };
  }
  const octal = /^\\(?<code>[0-7]{1,3})/.exec(rest);
  if (octal !== null)
    return {
      text: String.fromCodePoint(Number.parseInt(octal.groups?.['code'] ?? '0', 8)),
      length: octal[0].length,
    };
  const known = ESCAPES[rest.charAt(1)];
  return { text: known ?? rest.slice(0, 2), length: 2 };
}
