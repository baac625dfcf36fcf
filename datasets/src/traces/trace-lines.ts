/** A piece of a file that holds one record. */
export interface RecordText {
  /** Line it begins at, from 1. */
  readonly line: number;
  readonly text: string;
}

const NEWLINE = 0x0a;
const BOM = '\ufeff';

/** Lines that are not blank, ended by LF or CRLF; the last needs no end. One batch for each piece of the file. */
export async function* lineBatches(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<RecordText[], void, undefined> {
  let rest: Buffer[] = [];
  let line = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      rest.push(chunk);
      continue;
    }
    const text = Buffer.concat([...rest, chunk.subarray(0, end)]).toString('utf8');
    const lines = text.split('\n');
    yield linesOf(lines, line);
    line += lines.length;
    rest = [chunk.subarray(end + 1)];
  }
  const last = Buffer.concat(rest).toString('utf8');
  if (last !== '') yield linesOf([last], line);
}

function linesOf(lines: readonly string[], before: number): RecordText[] {
  const records: RecordText[] = [];
  for (const [i, raw] of lines.entries()) {
    const text = before + i === 0 && raw.startsWith(BOM) ? raw.slice(1) : raw;
    if (text.trim() !== '') records.push({ line: before + i + 1, text });
  }
  return records;
}
