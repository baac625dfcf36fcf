import type { CallStatus, LoadColumns, TokenSource } from '@perwatt/core';

const instants = [
  'sched_ns',
  'dispatch_ns',
  'socket_ns',
  'sent_ns',
  'headers_ns',
  'first_event_ns',
  'first_any_ns',
  'first_content_ns',
  'last_content_ns',
  'done_ns',
  'end_ns',
] as const;
const counts = [
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'reasoning_tokens',
  'events',
  'content_events',
  'reads',
] as const;
const sizes = ['bytes_in', 'bytes_out'] as const;
const names = ['status', 'finish_reason', 'error_kind', 'token_source'] as const;
const lists = ['icl_ns', 'event_tokens'] as const;

type Instants = (typeof instants)[number];
type Counts = (typeof counts)[number];
type Sizes = (typeof sizes)[number];
type Names = (typeof names)[number];
type Lists = (typeof lists)[number];
/** The columns made of lists of keys. */
type Built = Pick<LoadColumns, Instants | Counts | Sizes | Names | Lists>;

/** What came of one call; null where it has no value. */
export type EndedCall = Readonly<Record<Instants, bigint | null>> &
  Readonly<Record<Counts, number | null>> &
  Readonly<Record<Sizes, number>> &
  Readonly<Record<Lists, readonly number[] | null>> & {
    /** Number of the row the call was made for. */
    readonly row: number;
    readonly status: CallStatus;
    readonly http_status: number | null;
    readonly finish_reason: string | null;
    readonly error_kind: string | null;
    readonly error_message: string | null;
    readonly token_source: TokenSource | null;
    readonly conn_reused: boolean | null;
  };

/** Collects calls as columns, in order of their ends: those of the `calls` table that a client knows. */
export interface CallBatch {
  readonly length: number;
  add(call: EndedCall): void;
  /** What has come together, which the batch then starts anew without. */
  take(): LoadColumns;
}

export function createCallBatch(): CallBatch {
  let open = createBuilders();
  return {
    get length() {
      return open.length();
    },
    add: (call) => open.add(call),
    take() {
      const columns = open.columns();
      open = createBuilders();
      return columns;
    },
  };
}

interface Typed<V> {
  readonly length: number;
  [index: number]: V;
  set(other: ArrayLike<V>): void;
  subarray(start: number, end: number): Typed<V>;
}

const FIRST_ROWS = 256;

/** An array that grows to twice its size. */
function growing<V, A extends Typed<V>>(make: (length: number) => A) {
  let values = make(FIRST_ROWS);
  let length = 0;
  return {
    length: () => length,
    push(value: V) {
      if (length === values.length) {
        const larger = make(2 * length);
        larger.set(values);
        values = larger;
      }
      values[length] = value;
      length += 1;
    },
    all: (): A => values.subarray(0, length) as unknown as A,
  };
}

const uint8s = () => growing<number, Uint8Array>((n) => new Uint8Array(n));

function numberColumn<V, A extends Typed<V>>(make: (length: number) => A, zero: V) {
  const values = growing<V, A>(make);
  const valid = uint8s();
  return {
    add(value: V | null) {
      values.push(value ?? zero);
      valid.push(value === null ? 0 : 1);
    },
    column: (): { readonly values: A; readonly valid: Uint8Array } => ({
      values: values.all(),
      valid: valid.all(),
    }),
  };
}

function nameColumn() {
  const indices = growing<number, Uint16Array>((n) => new Uint16Array(n));
  const valid = uint8s();
  const places = new Map<string, number>();
  return {
    add(name: string | null) {
      const place = name === null ? 0 : (places.get(name) ?? places.size);
      if (name !== null && place === places.size) places.set(name, place);
      indices.push(place);
      valid.push(name === null ? 0 : 1);
    },
    column: () => ({ indices: indices.all(), names: [...places.keys()], valid: valid.all() }),
  };
}

function textColumn() {
  const offsets = growing<number, Int32Array>((n) => new Int32Array(n));
  const valid = uint8s();
  const parts: Buffer[] = [];
  let end = 0;
  offsets.push(0);
  return {
    add(text: string | null) {
      if (text !== null) {
        const part = Buffer.from(text);
        parts.push(part);
        end += part.length;
      }
      offsets.push(end);
      valid.push(text === null ? 0 : 1);
    },
    column: () => ({ offsets: offsets.all(), bytes: Buffer.concat(parts), valid: valid.all() }),
  };
}

function listColumn() {
  const offsets = growing<number, Int32Array>((n) => new Int32Array(n));
  const values = growing<number, Float64Array>((n) => new Float64Array(n));
  const valid = uint8s();
  offsets.push(0);
  return {
    add(list: readonly number[] | null) {
      if (list !== null) for (const value of list) values.push(value);
      offsets.push(values.length());
      valid.push(list === null ? 0 : 1);
    },
    column: () => ({ offsets: offsets.all(), values: values.all(), valid: valid.all() }),
  };
}

const each = <K extends string, B>(keys: readonly K[], make: () => B): readonly (readonly [K, B])[] =>
  keys.map((key) => [key, make()] as const);

function createBuilders() {
  const row = growing<number, Float64Array>((n) => new Float64Array(n));
  const number = {
    instants: each(instants, () => numberColumn<bigint, BigInt64Array>((n) => new BigInt64Array(n), 0n)),
    counts: each(counts, () => numberColumn<number, Uint32Array>((n) => new Uint32Array(n), 0)),
    sizes: each(sizes, () => numberColumn<bigint, BigUint64Array>((n) => new BigUint64Array(n), 0n)),
  };
  const http = numberColumn<number, Uint16Array>((n) => new Uint16Array(n), 0);
  const reused = numberColumn<number, Uint8Array>((n) => new Uint8Array(n), 0);
  const name = each(names, nameColumn);
  const list = each(lists, listColumn);
  const message = textColumn();

  return {
    length: row.length,
    add(call: EndedCall) {
      row.push(call.row);
      for (const [key, column] of number.instants) column.add(call[key]);
      for (const [key, column] of number.counts) column.add(call[key]);
      for (const [key, column] of number.sizes) column.add(BigInt(call[key]));
      for (const [key, column] of name) column.add(call[key]);
      for (const [key, column] of list) column.add(call[key]);
      http.add(call.http_status);
      reused.add(call.conn_reused === null ? null : Number(call.conn_reused));
      message.add(call.error_message);
    },
    columns(): LoadColumns {
      const built = [...number.instants, ...number.counts, ...number.sizes, ...name, ...list];
      return {
        length: row.length(),
        row: row.all(),
        ...(Object.fromEntries(built.map(([key, column]) => [key, column.column()])) as unknown as Built),
        http_status: http.column(),
        conn_reused: reused.column(),
        error_message: message.column(),
      };
    },
  };
}
