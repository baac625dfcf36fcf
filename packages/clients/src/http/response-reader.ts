/** What the head of a response says. */
export interface ResponseHead {
  readonly status: number;
  /** By their names in lower case; of several of a name the first. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads the responses of one HTTP/1.1 connection, one after another. */
export interface ResponseReader {
  /** Starts anew: what comes next is a response, to a request with a body of its own. */
  begin(): void;
  /**
   * Takes what one read brought. The bytes of a body are moved together within `bytes`, which is overwritten. Says what is
   * wrong where they are no HTTP: nothing more is read then.
   */
  push(bytes: Buffer): ResponseFault | null;
  /** What the last push brought. */
  readonly found: ResponseFound;
  /** Whether the response is whole if the connection ends here. */
  readonly endsWithConnection: boolean;
}

/** What is wrong with bytes that are no response. */
export type ResponseFault = 'not_http' | 'headers_too_large';

/** What one read brought of a response. */
export interface ResponseFound {
  /** Null where the head was not completed by it. */
  head: ResponseHead | null;
  /** Body, from `start` to `end` of the bytes. */
  start: number;
  end: number;
  /** Whether the response is over. */
  over: boolean;
  /** Whether the connection can take another request: the response is over, with nothing behind it, and says so. */
  reusable: boolean;
}

interface KnownHead {
  readonly head: ResponseHead;
  /** Length of the body; `CHUNKED` or `UNTIL_CLOSE`. */
  readonly length: number;
  readonly keepAlive: boolean;
}

const CHUNKED = -1;
const UNTIL_CLOSE = -2;
const MOST_HEAD_BYTES = 65_536;
const MOST_HEADS_KEPT = 64;
const MOST_SIZE_DIGITS = 12;
const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const SPACE = 0x20;
const TAB = 0x09;
const HEAD_END = Buffer.from('\r\n\r\n');
const START = Buffer.from('HTTP/1.');

const step = {
  head: 0,
  /** A body, or a chunk of one, of a known length. */
  data: 1,
  untilClose: 2,
  size: 3,
  extension: 4,
  sizeEnd: 5,
  dataEnd: 6,
  trailer: 7,
  over: 8,
  bad: 9,
} as const;

/** Heads that were read before, by their bytes: a server says the same again and again. Shared by the connections of one server. */
export type KnownHeads = Map<string, KnownHead>;

/** @param known heads read before; see `KnownHeads` */
export function createResponseReader(known: KnownHeads = new Map()): ResponseReader {
  const found: ResponseFound = { head: null, start: 0, end: 0, over: false, reusable: false };
  let at: number = step.over;
  let partial: Buffer | null = null;
  let chunked = false;
  let keepAlive = false;
  let left = 0;
  let digits = 0;
  let lineBytes = 0;
  let fault: ResponseFault | null = null;

  const fail = (what: ResponseFault): number => {
    fault = what;
    at = step.bad;
    return -1;
  };

  /** Takes the head if it is whole; gives where the rest begins. */
  const takeHead = (bytes: Buffer, from: number): number => {
    const fresh = from === 0 ? bytes : bytes.subarray(from);
    const all = partial === null ? fresh : Buffer.concat([partial, fresh]);
    const end = all.indexOf(HEAD_END);
    if (end < 0) return keepHead(all, bytes.length);
    const read = knownHead(all.toString('latin1', 0, end));
    if (read === null) return fail('not_http');
    partial = null;
    const next = from + end + HEAD_END.length - (all.length - fresh.length);
    if (read.head.status >= 200) begin(read, next);
    return next;
  };

  const keepHead = (all: Buffer, next: number): number => {
    if (!startsRight(all)) return fail('not_http');
    if (all.length > MOST_HEAD_BYTES) return fail('headers_too_large');
    partial = Buffer.from(all);
    return next;
  };

  const knownHead = (text: string): KnownHead | null => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const read = headOf(text);
    if (read === null) return null;
    if (known.size >= MOST_HEADS_KEPT) known.clear();
    known.set(text, read);
    return read;
  };

  const begin = (read: KnownHead, next: number) => {
    found.head = read.head;
    found.start = next;
    found.end = next;
    chunked = read.length === CHUNKED;
    keepAlive = read.keepAlive;
    if (chunked) at = step.size;
    else if (read.length === UNTIL_CLOSE) at = step.untilClose;
    else expect(read.length);
    digits = 0;
    if (chunked) left = 0;
  };

  /** Expects so many bytes of body. */
  const expect = (length: number) => {
    left = length;
    if (length > 0) at = step.data;
    else at = chunked ? step.trailer : step.over;
    lineBytes = 0;
  };

  /** Adds bytes to the body that this read brought. */
  const addBody = (bytes: Buffer, from: number, end: number) => {
    if (found.end === found.start) {
      found.start = from;
      found.end = end;
      return;
    }
    if (found.end !== from) bytes.copyWithin(found.end, from, end);
    found.end += end - from;
  };

  const takeRest = (bytes: Buffer, from: number): number => {
    addBody(bytes, from, bytes.length);
    return bytes.length;
  };

  const takeData = (bytes: Buffer, from: number): number => {
    const end = Math.min(from + left, bytes.length);
    addBody(bytes, from, end);
    left -= end - from;
    if (left === 0) at = chunked ? step.dataEnd : step.over;
    return end;
  };

  /** The line of a chunk's size: hexadecimal digits, perhaps an extension that nobody reads. */
  const takeSize = (bytes: Buffer, from: number): number => {
    let i = from;
    for (; i < bytes.length && digits <= MOST_SIZE_DIGITS; i++) {
      const digit = hexOf(bytes[i] as number);
      if (digit < 0) return endSize(bytes[i] as number, i + 1);
      left = left * 16 + digit;
      digits += 1;
    }
    return digits > MOST_SIZE_DIGITS ? fail('not_http') : i;
  };

  const endSize = (byte: number, next: number): number => {
    const extended = byte === SEMICOLON || byte === SPACE || byte === TAB;
    if (digits === 0 || (byte !== CR && !extended)) return fail('not_http');
    at = extended ? step.extension : step.sizeEnd;
    digits = 0;
    return next;
  };

  const takeExtension = (bytes: Buffer, from: number): number => {
    const end = bytes.indexOf(CR, from);
    if (end < 0) return bytes.length;
    at = step.sizeEnd;
    return end + 1;
  };

  const takeSizeEnd = (bytes: Buffer, from: number): number => {
    if (bytes[from] !== LF) return fail('not_http');
    expect(left);
    return from + 1;
  };

  /** The end of line behind a chunk. */
  const takeDataEnd = (bytes: Buffer, from: number): number => {
    const wanted = lineBytes === 0 ? CR : LF;
    if (bytes[from] !== wanted) return fail('not_http');
    lineBytes += 1;
    if (wanted === LF) at = step.size;
    return from + 1;
  };

  /** Lines up to an empty one. */
  const takeTrailer = (bytes: Buffer, from: number): number => {
    for (let i = from; i < bytes.length; i++) {
      const byte = bytes[i];
      if (byte === LF && lineBytes === 0) {
        at = step.over;
        return i + 1;
      }
      if (byte === LF) lineBytes = 0;
      else if (byte !== CR) lineBytes += 1;
    }
    return bytes.length;
  };

  const takers: readonly ((bytes: Buffer, from: number) => number)[] = [
    takeHead,
    takeData,
    takeRest,
    takeSize,
    takeExtension,
    takeSizeEnd,
    takeDataEnd,
    takeTrailer,
  ];

  return {
    found,
    begin() {
      at = step.head;
      partial = null;
      fault = null;
    },
    push(bytes) {
      found.head = null;
      found.start = 0;
      found.end = 0;
      let from = 0;
      while (from >= 0 && from < bytes.length) {
        const take = takers[at];
        if (take === undefined) break;
        from = take(bytes, from);
      }
      found.over = at === step.over;
      found.reusable = found.over && keepAlive && from === bytes.length;
      return fault;
    },
    get endsWithConnection() {
      return at === step.untilClose || at === step.over;
    },
  };
}

function startsRight(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, START.length);
  for (let i = 0; i < length; i++) if (bytes[i] !== START[i]) return false;
  return true;
}

function hexOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** The head that a text is, without the empty line behind it; null where it is none. */
function headOf(text: string): KnownHead | null {
  const [first = '', ...lines] = text.split('\r\n');
  const [, minor, code] = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(first) ?? [];
  if (code === undefined) return null;
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const [, name, value = ''] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n\0]*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) return null;
    headers[name.toLowerCase()] ??= value;
  }
  const status = Number(code);
  const length = lengthOf(status, headers);
  if (length === null) return null;
  const said = headers['connection']?.toLowerCase() ?? '';
  const keepAlive = minor === '1' ? !/\bclose\b/.test(said) : /\bkeep-alive\b/.test(said);
  return { head: { status, headers }, length, keepAlive: keepAlive && length !== UNTIL_CLOSE };
}

function lengthOf(status: number, headers: Readonly<Record<string, string>>): number | null {
  if (status < 200 || status === 204 || status === 304) return 0;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) return /\bchunked$/i.test(coding) ? CHUNKED : UNTIL_CLOSE;
  const length = headers['content-length'];
  if (length === undefined) return UNTIL_CLOSE;
  return /^\d{1,15}$/.test(length) ? Number(length) : null;
}
