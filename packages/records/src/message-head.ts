/** What a scan must know of an Arrow message to find the next one. */
export interface MessageHead {
  readonly kind: 'schema' | 'dictionary' | 'batch';
  readonly body_bytes: number;
}

const kinds = [null, 'schema', 'dictionary', 'batch'] as const;
const HEADER_TYPE = 1;
const BODY_LENGTH = 3;

/**
 * Kind and body length of a message from its head, a flatbuffer table; null when the bytes are none. Reads two fields and
 * nothing else: a full decoder believes every length it meets, and a wrong one keeps it busy for minutes.
 * Format: https://github.com/apache/arrow/blob/main/format/Message.fbs
 */
export function headOf(head: Uint8Array): MessageHead | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  try {
    const table = view.getUint32(0, true);
    const kind = kinds[view.getUint8(table + fieldOffset(view, table, HEADER_TYPE))] ?? null;
    const offset = fieldOffset(view, table, BODY_LENGTH);
    const body_bytes = offset === 0 ? 0 : Number(view.getBigInt64(table + offset, true));
    return kind === null || body_bytes < 0 ? null : { kind, body_bytes };
  } catch {
    return null;
  }
}

/** Where a field stands within its table; 0 when it has its default. */
function fieldOffset(view: DataView, table: number, field: number): number {
  const entries = table - view.getInt32(table, true);
  const slot = 4 + 2 * field;
  return slot < view.getUint16(entries, true) ? view.getUint16(entries + slot, true) : 0;
}
