import { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { isRecord } from '../options.js';
import { type Row, rowError } from '../rows.js';
import { badFile, type DataFile } from './data-file.js';

/** Rows with the names of the header line, which are known once the first row is. */
export interface CsvRows {
  readonly rows: AsyncGenerator<Row, void, undefined>;
  readonly columns: () => readonly string[];
}

/** The rows of comma-separated values with a header line; a file called `.tsv` has tabs. */
export function csvRows(file: DataFile): CsvRows {
  let columns: readonly string[] = [];
  return {
    columns: () => columns,
    rows: read(file, (header) => {
      columns = header;
    }),
  };
}

async function* read(
  file: DataFile,
  onHeader: (columns: readonly string[]) => void,
): AsyncGenerator<Row, void, undefined> {
  const { path, limits } = file;
  const parser = parse({
    columns: (header: string[]) => {
      onHeader(header);
      return header;
    },
    bom: true,
    info: true,
    skip_empty_lines: true,
    max_record_size: limits.record_bytes,
    delimiter: /\.tsv(?:\.gz)?$/i.test(path) ? '\t' : ',',
  });
  const source = Readable.from(checked(file));
  source.on('error', (cause) => parser.destroy(cause));
  let lines = 1;
  try {
    for await (const record of source.pipe(parser)) {
      lines = lineOf(record) ?? lines;
      yield { place: `${path} line ${lines}`, fields: fieldsOf(record) };
    }
  } catch (cause) {
    if (!(cause instanceof CsvError)) throw cause;
    const line = typeof cause['lines'] === 'number' ? cause['lines'] : lines;
    throw rowError(`${path} line ${line}`, cause.message.toLowerCase(), cause);
  } finally {
    source.destroy();
    parser.destroy();
  }
}

/** Chunks that are UTF-8 for sure. */
async function* checked(file: DataFile): AsyncGenerator<Buffer, void, undefined> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of file.chunks()) {
      utf8.decode(chunk, { stream: true });
      yield chunk;
    }
    utf8.decode();
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw badFile(file.path, 'is not UTF-8 text', 'Convert the file to UTF-8.', cause);
  }
}

const fieldsOf = (record: unknown) =>
  isRecord(record) && isRecord(record['record']) ? record['record'] : {};

const lineOf = (record: unknown): number | null => {
  const info = isRecord(record) ? record['info'] : null;
  return isRecord(info) && typeof info['lines'] === 'number' ? info['lines'] : null;
};
