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

/** Takes the bytes of one event stream as they come. */
export interface SseParser {
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
 */
export function createSseParser(onEvent: (event: SseEvent) => void): SseParser {
  const line = createLine();
  let firstLine = true;
  let afterCr = false;
  let data: string[] = [];
  let type = '';
  let id = '';

  const dispatch = (terminated: boolean) => {
    const event = { type, data: data.join('\n'), id, terminated };
    const pending = data.length > 0;
    data = [];
    type = '';
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

  return {
    push(bytes) {
      let start = 0;
      for (let i = 0; i < bytes.length; i++) {
        const byte = bytes[i];
        if (byte !== LF && byte !== CR) {
          afterCr = false;
          continue;
        }
        const secondOfPair = byte === LF && afterCr;
        afterCr = byte === CR;
        if (!secondOfPair) takeLine(line.finish(bytes.subarray(start, i)));
        start = i + 1;
      }
      line.keep(bytes.subarray(start));
    },
    end() {
      const rest = line.finish(NOTHING);
      if (rest.length > 0) takeLine(rest);
      dispatch(false);
    },
  };
}

/** The bytes of a line that is not complete yet; joined once, so that tiny reads of a long line stay cheap. */
function createLine() {
  let parts: Uint8Array[] = [];
  return {
    keep(part: Uint8Array) {
      if (part.length > 0) parts.push(part);
    },
    finish(last: Uint8Array): Buffer {
      if (parts.length === 0) return Buffer.from(last.buffer, last.byteOffset, last.byteLength);
      const whole = Buffer.concat([...parts, last]);
      parts = [];
      return whole;
    },
  };
}
