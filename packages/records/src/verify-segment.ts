import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { arrowSchema, messageOf, PerwattError, type TableName } from '@perwatt/core';
import type { RecordBatch, Schema } from 'apache-arrow';
import { namesOf } from './decode-rows.js';
import { type Checked, type Finding, found, problem } from './findings.js';
import type { SegmentEntry } from './manifest.js';
import { type SegmentInfo, scanSegment } from './scan-segment.js';

export interface SegmentCheck {
  /** Folder of the segment within the run. */
  readonly place: string;
  readonly table: TableName;
  readonly path: string;
  readonly entry: SegmentEntry | null;
  /** Whether its writer was killed, so that its end may be cut and nothing is lost. */
  readonly crashed: boolean;
  /** What every row must have in these name columns. */
  readonly names?: Readonly<Record<string, ReadonlySet<string>>>;
  readonly onBatch?: (batch: RecordBatch) => void;
}

/** How a file ends whose writer was killed in the middle of a batch. */
const cutOff =
  /^cut inside a message|^the last dictionary has no batch$|^the file is empty$|^no schema at the start/;

/** Reads a segment whole, and says what of it is not as its table, its manifest and its seals have it. */
export function checkSegment(check: SegmentCheck): Checked {
  const { table, path, entry } = check;
  const where = [check.place, basename(path)].filter((part) => part !== '').join('/');
  if (!existsSync(path)) return found(problem('file_missing', where, 'the file is missing'));
  const wrong = new Map<string, string>();
  let schema: Schema | null = null;
  const onBatch = (batch: RecordBatch) => {
    schema ??= batch.schema;
    noteNames(batch, check.names ?? {}, wrong);
    check.onBatch?.(batch);
  };
  let info: SegmentInfo;
  try {
    info = scanSegment(path, { table, entry: entry ?? undefined, onBatch });
  } catch (error) {
    if (!(error instanceof PerwattError)) throw error;
    return found(problem('file_foreign', where, messageOf(error)));
  }
  const findings = [
    ...damage(info, check, where),
    ...(schema === null ? [] : schemaProblems(schema, table).map((text) => problem('schema', where, text))),
    ...[...wrong.values()].map((text) => problem('rows_foreign', where, text)),
  ];
  return { segments: 1, rows: info.rows, batches: info.batches, bytes: info.bytes, findings };
}

function damage(info: SegmentInfo, { entry, crashed }: SegmentCheck, where: string): Finding[] {
  if (info.torn === null) {
    const empty = info.rows === 0 && info.batches === 0;
    if (entry !== null || crashed || empty) return [];
    return [
      problem(
        'file_unlisted',
        where,
        `${info.rows} rows of a closed sitting that its cell.json doesn't list`,
      ),
    ];
  }
  const text = `${info.torn}; ${info.rows} rows can be read`;
  if (entry === null && crashed && cutOff.test(info.torn))
    return [{ level: 'note', code: 'segment_torn', where, text }];
  return [problem('segment_damaged', where, text)];
}

/** Columns that are missing or of another type than the table's. A column that may be null may also be missing. */
function schemaProblems(schema: Schema, table: TableName): string[] {
  return arrowSchema(table).fields.flatMap((wanted) => {
    const field = schema.fields.find(({ name }) => name === wanted.name);
    if (field === undefined) return wanted.nullable ? [] : [`column "${wanted.name}" is missing`];
    const [is, should] = [String(field.type), String(wanted.type)];
    return is === should ? [] : [`column "${wanted.name}" is ${is}, not ${should}`];
  });
}

/** Notes the first name of each column that must not be there. */
function noteNames(
  batch: RecordBatch,
  allowed: Readonly<Record<string, ReadonlySet<string>>>,
  wrong: Map<string, string>,
): void {
  for (const [column, names] of Object.entries(allowed)) {
    const data = batch.data.children[batch.schema.fields.findIndex(({ name }) => name === column)];
    const other = data === undefined ? undefined : namesOf(data).find((name) => !names.has(name));
    if (other === undefined || wrong.has(column)) continue;
    wrong.set(column, `${column} is ${JSON.stringify(other)} where ${[...names].join(' or ')} is wanted`);
  }
}
