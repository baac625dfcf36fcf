/** One event of an event stream. */
export interface SseEvent {
  /** The `event` field; '' when the stream did not name one. */
  readonly type: string;
  /** The `data` fields, joined by line feeds. */
  readonly data: string;
  /** The last `id` field so far; '' when there was none. */
  readonly id: string;
  /** False for an event that the end of the stream cut off before its blank line: its data may be incomplete. */
  readonly terminated: boolean;
}

/**
 * Looks at the bytes where an event may start, before they are split into lines. Gives where the event ends if it has dealt
 * with it, else -1. The event must have one `data` field and nothing else.
 */
export type WholeEvent = (bytes: Uint8Array, start: number) => number;

/** Takes the bytes of one event stream as they come. */
export interface SseParser {
  /** Keeps nothing of the bytes but copies. */
  push(bytes: Uint8Array): void;
  /** The stream has ended: dispatches the event still pending, if any. */
  end(): void;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const NOTHING = Buffer.alloc(0);

/**
 * A parser of event streams after the WHATWG grammar
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream), working on bytes: how the
 * stream was cut into reads never changes its events. Lines end at LF, CR or CRLF and at nothing else; UTF-8 is decoded a
 * whole line at a time, with U+FFFD for malformed sequences. One deviation: an event still pending at the end of the
 * stream is dispatched, marked as not terminated. `retry` is ignored, for nothing reconnects.
 *
 * @param takeWhole offered the bytes of every read where an event may start, so that common ones need not be split
 */
export function createSseParser(
  onEvent: (event: SseEvent) => void,
  takeWhole: WholeEvent = () => -1,
): SseParser {
  const line = createLine();
  let firstLine = true;
  let between = true;
  let afterCr = false;
  let data: string[] = [];
  let type = '';
  let id = '';

  const dispatch = (terminated: boolean) => {
    const event = { type, data: data.join('\n'), id, terminated };
    const pending = data.length > 0;
    data = [];
    type = '';
    between = true;
    if (pending) onEvent(event);
  };

  const takeField = (name: string, value: string) => {
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  };

  const takeLine = (raw: Buffer) => {
    const bytes = firstLine && raw.subarray(0, 3).equals(BOM) ? raw.subarray(3) : raw;
    firstLine = false;
    if (bytes.length === 0) return dispatch(true);
    const colon = bytes.indexOf(COLON);
    if (colon === 0) return;
    if (colon === -1) return takeField(bytes.toString('utf8'), '');
    const start = bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
    takeField(bytes.toString('latin1', 0, colon), bytes.toString('utf8', start));
  };

  /** Takes whole events from `start` on; gives where the rest begins. */
  const takeEvents = (bytes: Uint8Array, start: number): number => {
    let at = start;
    while (at < bytes.length) {
      const end = takeWhole(bytes, at);
      if (end < 0) break;
      at = end;
      firstLine = false;
      afterCr = false;
    }
    return at;
  };

  /** Takes the line that ends at `end`, unless the line feed there belongs to the line before. */
  const endLine = (bytes: Uint8Array, start: number, end: number): void => {
    const secondOfPair = bytes[end] === LF && afterCr && end === start && !line.begun();
    afterCr = bytes[end] === CR;
    if (secondOfPair) return;
    between = false;
    takeLine(line.finish(bytes.subarray(start, end)));
  };

  return {
    push(bytes) {
      let start = 0;
      while (start < bytes.length) {
        if (between) start = takeEvents(bytes, start);
        const end = lineEnd(bytes, start);
        if (end < 0) break;
        endLine(bytes, start, end);
        start = end + 1;
      }
      if (start >= bytes.length) return;
      between = false;
      line.keep(bytes.subarray(start));
    },
    end() {
      const rest = line.finish(NOTHING);
      if (rest.length > 0) takeLine(rest);
      dispatch(false);
    },
  };
}

/** Where the next CR or LF stands; -1 where there is none. */
function lineEnd(bytes: Uint8Array, start: number): number {
  for (let i = start; i < bytes.length; i++) if (bytes[i] === LF || bytes[i] === CR) return i;
  return -1;
}

/** The bytes of a line that is not complete yet; joined once, so that tiny reads of a long line stay cheap. */
function createLine() {
  let parts: Uint8Array[] = [];
  return {
    begun: () => parts.length > 0,
    keep(part: Uint8Array) {
      parts.push(new Uint8Array(part));
    },
    finish(last: Uint8Array): Buffer {
      if (parts.length === 0) return Buffer.from(last.buffer, last.byteOffset, last.byteLength);
      const whole = Buffer.concat([...parts, last]);
      parts = [];
      return whole;
    },
  };
}
