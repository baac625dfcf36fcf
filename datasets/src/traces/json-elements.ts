import { badFile } from './trace-errors.js';
import type { RecordText } from './trace-lines.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;

const opens = (byte: number) => byte === 0x7b || byte === 0x5b;
const closes = (byte: number) => byte === 0x7d || byte === 0x5d;
const separates = (byte: number) => byte <= 0x20 || byte === 0x2c;

/**
 * The objects of a JSON array, one by one, without holding the array: a scan for brackets outside of strings finds where
 * each begins and ends. What stands within is parsed by the caller. Throws `TRACE_INVALID` when the array has no end.
 */
export async function* jsonElements(
  path: string,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<RecordText[], void, undefined> {
  const scan: Scan = {
    depth: 0,
    inString: false,
    escaped: false,
    line: 1,
    begun: 1,
    start: 0,
    closed: false,
  };
  let parts: Buffer[] = [];
  for await (const chunk of chunks) {
    const found: RecordText[] = [];
    for (const { start, end } of elementsIn(path, chunk, scan)) {
      parts.push(chunk.subarray(start, end));
      found.push({ line: scan.begun, text: Buffer.concat(parts).toString('utf8') });
      parts = [];
    }
    if (scan.depth >= 2) parts.push(chunk.subarray(scan.start));
    if (found.length > 0) yield found;
  }
  if (!scan.closed)
    throw badFile(path, `the JSON array is not closed at line ${scan.line}`, 'Fetch the file again.');
}

/** Where in a chunk elements end, and where they begin in it, or 0. What is still open at its end begins at `scan.start`. */
function* elementsIn(path: string, chunk: Buffer, scan: Scan) {
  scan.start = 0;
  for (let i = 0; i < chunk.length; i++) {
    const event = step(scan, chunk[i] ?? 0);
    if (event === 'begin') {
      scan.start = i;
      scan.begun = scan.line;
    } else if (event === 'end') yield { start: scan.start, end: i + 1 };
    else if (event === 'stray') throw notAnObject(path, scan.line);
  }
}

const notAnObject = (path: string, line: number) =>
  badFile(path, `the entry at line ${line} is not an object`, 'Mend the entry.');

interface Scan {
  depth: number;
  inString: boolean;
  escaped: boolean;
  line: number;
  /** Line the element begins at. */
  begun: number;
  /** Where in the chunk it begins. */
  start: number;
  closed: boolean;
}

/** What a byte does: begin or end an element, stand between elements without being one, or nothing. */
function step(scan: Scan, byte: number): 'none' | 'begin' | 'end' | 'stray' {
  const before = scan.depth;
  if (byte === NEWLINE) scan.line += 1;
  if (scan.escaped) scan.escaped = false;
  else if (scan.inString && byte === BACKSLASH) scan.escaped = true;
  else if (byte === QUOTE) scan.inString = !scan.inString;
  else if (!scan.inString) bracket(scan, byte);
  if (before > 2 || scan.depth > 2) return 'none';
  return boundary(before, scan.depth, byte);
}

function boundary(before: number, after: number, byte: number): 'none' | 'begin' | 'end' | 'stray' {
  if (before === 1 && after === 2) return 'begin';
  if (before === 2 && after === 1) return 'end';
  return before === 1 && after === 1 && !separates(byte) ? 'stray' : 'none';
}

function bracket(scan: Scan, byte: number): void {
  if (opens(byte)) scan.depth += 1;
  else if (closes(byte)) {
    scan.depth -= 1;
    if (scan.depth === 0) scan.closed = true;
  }
}
