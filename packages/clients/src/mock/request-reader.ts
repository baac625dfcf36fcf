/** One request as it came over a connection. */
export interface MockRequest {
  readonly method: string;
  readonly path: string;
  /** Value of a header, its name in lower case; null without one. */
  header(name: string): string | null;
  readonly body: Buffer;
}

/** What a connection's bytes amount to. */
export interface RequestEvents {
  readonly onRequest: (request: MockRequest) => void;
  /** The other side waits for leave to send its body. */
  readonly onExpect: () => void;
  /** Bytes that are no request this server takes: nothing more is read. */
  readonly onBad: (status: number, reason: string) => void;
}

/** Reads the requests of one connection. */
export interface RequestReader {
  push(bytes: Buffer): void;
  /** The answer at hand has ended: the next request may be taken. */
  next(): void;
}

const END = Buffer.from('\r\n\r\n');
const MOST_HEAD_BYTES = 65_536;
const MOST_BODY_BYTES = 256 * 1024 * 1024;

interface Head {
  readonly method: string;
  readonly path: string;
  readonly text: string;
  readonly length: number;
  readonly bodyStart: number;
}

/** A reader of HTTP/1.1 requests with a `Content-Length` or none; one at a time, later ones wait for `next`. */
export function createRequestReader({ onRequest, onExpect, onBad }: RequestEvents): RequestReader {
  let parts: Buffer[] = [];
  let size = 0;
  let head: Head | null = null;
  let busy = false;
  let bad = false;

  const refuse = (status: number, reason: string) => {
    bad = true;
    onBad(status, reason);
  };

  const joined = (): Buffer => {
    const all = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    parts = all.length === 0 ? [] : [all];
    return all;
  };

  const takeHead = (): Head | null => {
    const all = joined();
    const end = all.indexOf(END);
    if (end < 0) {
      if (size > MOST_HEAD_BYTES) refuse(431, 'the headers are too long');
      return null;
    }
    const found = headOf(all.toString('latin1', 0, end), end + END.length);
    if (typeof found === 'string') {
      refuse(found.startsWith('a body') ? 411 : 400, found);
      return null;
    }
    if (/\r\nexpect: *100-continue/i.test(found.text)) onExpect();
    return found;
  };

  const take = () => {
    while (!busy && !bad && size > 0) {
      head ??= takeHead();
      if (head === null || size < head.bodyStart + head.length) return;
      const all = joined();
      const { method, path, text, bodyStart, length } = head;
      const body = all.subarray(bodyStart, bodyStart + length);
      const rest = all.subarray(bodyStart + length);
      parts = rest.length === 0 ? [] : [rest];
      size = rest.length;
      head = null;
      busy = true;
      onRequest({ method, path, body, header: (name) => headerOf(text, name) });
    }
  };

  return {
    push(bytes) {
      if (bad) return;
      parts.push(bytes);
      size += bytes.length;
      take();
    },
    next() {
      busy = false;
      take();
    },
  };
}

/** What a head says, or why it is refused. */
function headOf(text: string, bodyStart: number): Head | string {
  const [, method = '', path = ''] = /^([A-Z]+) (\S+) HTTP\/1\.1(?:\r\n|$)/.exec(text) ?? [];
  if (method === '') return 'not a request of HTTP/1.1';
  if (headerOf(text, 'transfer-encoding') !== null) return 'a body must say its length';
  const length = headerOf(text, 'content-length') ?? '0';
  if (!/^\d+$/.test(length) || Number(length) > MOST_BODY_BYTES) return `bad content-length ${length}`;
  return { method, path, text, length: Number(length), bodyStart };
}

function headerOf(head: string, name: string): string | null {
  const lower = head.toLowerCase();
  const at = lower.indexOf(`\r\n${name}:`);
  if (at < 0) return null;
  const start = at + name.length + 3;
  const end = head.indexOf('\r\n', start);
  return head.slice(start, end < 0 ? head.length : end).trim();
}
