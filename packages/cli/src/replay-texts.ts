import { closeSync, openSync, writeSync } from 'node:fs';
import type { TraceTable } from '@perwatt/datasets';

const BUFFER_CHARACTERS = 1 << 20;

/** What a row of a trace, or its made-up prompt, is written as: messages, and what was answered. */
export interface WrittenTurn {
  /** The inside of a JSON array of messages. */
  readonly messages: string;
  /** JSON text; empty where there is no answer. */
  readonly answer: string;
}

export interface TextFile {
  add(turn: WrittenTurn): void;
  /** Where each part lies: two a turn, and the end. In shared memory. */
  close(): Float64Array;
}

/** Writes texts of `places` turns one behind the other into a new file. */
export function writeTexts(path: string, places: number): TextFile {
  const fd = openSync(path, 'wx');
  const offsets = new Float64Array(new SharedArrayBuffer(8 * (2 * places + 1)));
  let [part, at] = [0, 0];
  let waiting: string[] = [];
  let characters = 0;
  const flush = () => {
    const bytes = Buffer.from(waiting.join(''));
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    waiting = [];
    characters = 0;
  };
  const put = (text: string) => {
    waiting.push(text);
    characters += text.length;
    at += Buffer.byteLength(text);
    part += 1;
    offsets[part] = at;
    if (characters >= BUFFER_CHARACTERS) flush();
  };
  return {
    add({ messages, answer }) {
      put(messages);
      put(answer);
    },
    close() {
      flush();
      closeSync(fd);
      return offsets;
    },
  };
}

/** What row `index` of a trace said, as it is written; empty where its text is not known. */
export function turnOf(table: TraceTable, index: number): WrittenTurn {
  const text = table.text(index);
  if (text === null) return { messages: '', answer: '' };
  return {
    messages: text.messages.map(({ role, content }) => JSON.stringify({ role, content })).join(','),
    answer: text.answer === null ? '' : JSON.stringify(text.answer),
  };
}

/** A prompt as it is written. */
export const turnOfPrompt = (content: string): WrittenTurn => ({
  messages: JSON.stringify({ role: 'user', content }),
  answer: '',
});
