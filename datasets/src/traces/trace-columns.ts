import type { Message, TraceRow, TraceText } from '@perwatt/core';
import { float64Column, int64Column, nameColumn, uint32Column } from './growable.js';
import type { TextStore } from './text-store.js';
import { badRow } from './trace-errors.js';

/** A field of a call that not every trace has. */
export type TraceField = Exclude<keyof TraceRow, 'row' | 'input_tokens' | 'output_tokens' | 'block_tokens'>;

/** One call as a reader found it, before it has a place in the order of time. */
export interface RawRow {
  /** ns on the source's own scale; null where it has no time. */
  readonly at: bigint | null;
  /** The stamp as written. */
  readonly stamp: string | null;
  readonly input: number | null;
  readonly output: number | null;
  /** Number of the call in the file; the reader's count unless given. */
  readonly row?: number;
  readonly hash_ids?: readonly number[];
  /** Where the file itself says it. */
  readonly block_tokens?: number;
  readonly conversation?: string;
  readonly id?: string;
  readonly parent?: string;
  /** `row` of the call it goes on from. */
  readonly parent_row?: number;
  /** Goes on from the call before it in the file. */
  readonly follows?: 'previous';
  readonly turn?: number;
  readonly images?: number;
  readonly kind?: string;
  readonly model?: string;
  readonly text?: TraceText;
}

/** The calls of a trace in order of the file, a few bytes each. Numbers that may be absent are stored one up, so that 0 is none. */
export function traceColumns(declaredBlock: number | null, texts: TextStore | null) {
  const at = int64Column();
  const row = uint32Column();
  const [input, output, turn, images] = [uint32Column(), uint32Column(), uint32Column(), uint32Column()];
  const [hashStart, hashCount, parent, text] = [
    uint32Column(),
    uint32Column(),
    uint32Column(),
    uint32Column(),
  ];
  const hashes = float64Column();
  const parentRow = uint32Column();
  const [conversation, id, parentId, kind, model] = [
    nameColumn(),
    nameColumn(),
    nameColumn(),
    nameColumn(),
    nameColumn(),
  ];
  let length = 0;
  let hashLength = 0;
  let blockTokens = declaredBlock;
  const present = new Set<TraceField>();

  const addHashes = (slot: number, ids: readonly number[], block: number | undefined) => {
    if (block !== undefined && blockTokens !== null && block !== blockTokens)
      throw badRow(`blocks of ${block} tokens, after blocks of ${blockTokens}`);
    blockTokens = block ?? blockTokens;
    present.add('hash_ids');
    hashStart.set(slot, hashLength);
    hashCount.set(slot, ids.length + 1);
    for (const hash of ids) hashes.set(hashLength++, hash);
  };
  const addLinks = (slot: number, raw: RawRow) => {
    put('conversation_id', raw.conversation, (name) => conversation.set(slot, name));
    put('id', raw.id, (name) => id.set(slot, name));
    put('parent_id', raw.parent, (name) => parentId.set(slot, name));
    put('parent_row', raw.parent_row, (of) => parentRow.set(slot, of + 1));
    put('parent_row', raw.follows, () => parent.set(slot, slot));
  };
  const addNames = (slot: number, raw: RawRow) => {
    put('kind', raw.kind, (name) => kind.set(slot, name));
    put('model', raw.model, (name) => model.set(slot, name));
    put('turn', raw.turn, (count) => turn.set(slot, count + 1));
    put('images', raw.images, (count) => images.set(slot, count + 1));
  };
  const addText = (slot: number, raw: RawRow) => {
    if (texts !== null)
      put('text', raw.text, (said) => text.set(slot, texts.append(JSON.stringify(said)) + 1));
  };
  const put = <T>(field: TraceField, value: T | undefined, store: (value: T) => void) => {
    if (value === undefined) return;
    present.add(field);
    store(value);
  };

  return {
    /** Fields that at least one call has, beside its number and its lengths. */
    present,
    length: () => length,
    add: (raw: RawRow, number: number) => {
      const slot = length++;
      row.set(slot, raw.row ?? number);
      put('at_ns', raw.at ?? undefined, (stamp) => at.set(slot, stamp));
      input.set(slot, stored(raw.input));
      output.set(slot, stored(raw.output));
      if (raw.hash_ids !== undefined) addHashes(slot, raw.hash_ids, raw.block_tokens);
      addLinks(slot, raw);
      addNames(slot, raw);
      addText(slot, raw);
    },
    at: (slot: number) => at.get(slot),
    row: (slot: number) => row.get(slot),
    input: (slot: number) => loaded(input.get(slot)),
    output: (slot: number) => loaded(output.get(slot)),
    hashCount: (slot: number) => loaded(hashCount.get(slot)),
    hash: (slot: number, i: number) => hashes.get(hashStart.get(slot) + i),
    conversation: (slot: number) => conversation.get(slot),
    setConversation: (slot: number, name: string) => {
      present.add('conversation_id');
      conversation.set(slot, name);
    },
    id: (slot: number) => id.get(slot),
    parentId: (slot: number) => parentId.get(slot),
    parentRow: (slot: number) => loaded(parentRow.get(slot)),
    parent: (slot: number) => loaded(parent.get(slot)),
    setParent: (slot: number, of: number) => {
      present.add('parent_row');
      parent.set(slot, of + 1);
    },
    text: (slot: number): TraceText | null => {
      const number = loaded(text.get(slot));
      return number === null || texts === null ? null : asText(texts.read(number));
    },
    rest: (slot: number): Partial<TraceRow> => ({
      ...some('turn', loaded(turn.get(slot))),
      ...some('images', loaded(images.get(slot))),
      ...some('kind', kind.get(slot)),
      ...some('model', model.get(slot)),
      ...some('conversation_id', conversation.get(slot)),
      ...some('id', id.get(slot)),
      ...some('parent_id', parentId.get(slot)),
    }),
    blockTokens: () => blockTokens,
  };
}

export type TraceColumns = ReturnType<typeof traceColumns>;

const stored = (value: number | null) => (value === null ? 0 : value + 1);
const loaded = (value: number): number | null => (value === 0 ? null : value - 1);

const some = <K extends string, V>(key: K, value: V | null | undefined): Partial<Record<K, V>> =>
  value === null || value === undefined ? {} : ({ [key]: value } as Record<K, V>);

const asText = (json: string): TraceText => {
  const { messages, answer } = JSON.parse(json) as {
    readonly messages: readonly Message[];
    readonly answer: string | null;
  };
  return { messages, answer };
};
