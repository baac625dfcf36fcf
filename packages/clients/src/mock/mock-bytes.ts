/** How an answer is written. */
export interface AnswerForm {
  readonly chat: boolean;
  readonly model: string;
  readonly tokens: number;
  readonly tokens_per_event: number;
}

/** Bytes with places for an id and for stamps. */
export interface Preassembled {
  readonly bytes: Buffer;
  /** Where the digits of the ids start. */
  readonly ids: readonly number[];
  /** Where the stamps start. */
  readonly stamps: readonly number[];
}

const ID = '0'.repeat(12);
const STAMP = '0'.repeat(19);
const ID_MARK = `"id":"mock-${ID}`;
const STAMP_MARK = `"at_ns":"${STAMP}`;
const WORDS = [' red', ' oak', ' sun', ' tea', ' map', ' ink', ' fox', ' sea', ' pen', ' sky'] as const;

/** Head of a streamed answer. */
export const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n';
/** End of a body in chunked transfer. */
export const LAST_CHUNK = '0\r\n\r\n';

/** The text of tokens from `first` up to `end`: every token is one short word. */
export const wordsOf = (first: number, end: number): string =>
  Array.from({ length: Math.max(0, end - first) }, (_, i) => WORDS[(first + i) % WORDS.length]).join('');

/** The id of the n-th answer. */
export const idOf = (n: number): string => `mock-${String(n).padStart(ID.length, '0')}`;

/** A text as one chunk of the transfer. */
export const chunkOf = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** The text of one event, with zeros for its id and stamp. `more` follows the choices. */
export function eventText(form: AnswerForm, choice: object, more = ''): string {
  const object = form.chat ? 'chat.completion.chunk' : 'text_completion';
  const { model } = form;
  const choices = JSON.stringify([{ index: 0, ...choice }]);
  return `data: {${ID_MARK}","object":"${object}","created":0,"model":${JSON.stringify(model)},${STAMP_MARK}","choices":${choices}${more}}\n\n`;
}

/** The choice that carries a text, or ends the answer. */
export function choiceOf(form: AnswerForm, text: string, finish: string | null): object {
  const said = form.chat ? { delta: finish === null ? { content: text } : {} } : { text };
  return { ...said, logprobs: null, finish_reason: finish };
}

/** One event of an answer as a chunk of the transfer, from the token `first` on. */
export function eventBytes(form: AnswerForm, first: number, more = ''): Preassembled {
  const end = Math.min(first + form.tokens_per_event, form.tokens);
  return preassembled(chunkOf(eventText(form, choiceOf(form, wordsOf(first, end), null), more)));
}

/** The head and all events of an answer; `more` gives what follows the choices of the event that ends with so many tokens. */
export function answerBytes(form: AnswerForm, more: (tokens: number) => string): Preassembled {
  const events: string[] = [];
  for (let i = 0; i < form.tokens; i += form.tokens_per_event) {
    const end = Math.min(i + form.tokens_per_event, form.tokens);
    events.push(chunkOf(eventText(form, choiceOf(form, wordsOf(i, end), null), more(end))));
  }
  return preassembled(STREAM_HEAD + events.join(''));
}

/** Finds the places in bytes that hold zeros there. */
export function preassembled(text: string): Preassembled {
  const bytes = Buffer.from(text);
  return {
    bytes,
    ids: placesOf(bytes, ID_MARK, ID.length),
    stamps: placesOf(bytes, STAMP_MARK, STAMP.length),
  };
}

function placesOf(bytes: Buffer, mark: string, digits: number): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1))
    places.push(at + mark.length - digits);
  return places;
}

/** A copy with its places filled. */
export function filled({ bytes, ids, stamps }: Preassembled, id: string, at_ns: bigint): Buffer {
  const copy = Buffer.from(bytes);
  const digits = id.slice(-ID.length);
  const stamp = String(at_ns).padStart(STAMP.length, '0');
  for (const at of ids) copy.write(digits, at, 'latin1');
  for (const at of stamps) copy.write(stamp, at, 'latin1');
  return copy;
}
