import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const MOST_BYTES = 16_384;
const MOST_LINES = 20;
const MOST_CHARACTERS = 2000;

/** The last lines of a log that grows, without control characters; null where there is none or it is empty. */
export function logTail(path: string, most_lines = MOST_LINES): string | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, MOST_BYTES));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const lines = plain(bytes.toString('utf8', 0, read)).split('\n');
    return lines.slice(-most_lines).join('\n').slice(-MOST_CHARACTERS).trim() || null;
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** Progress bars draw over themselves: of such a line the last state is kept. Colours and other controls go. */
const plain = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is looked for
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replace(/\r\n/g, '\n')
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
    .filter((line) => line.trim() !== '')
    .join('\n')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the same
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
