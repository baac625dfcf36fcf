import type { TraceColumns } from './trace-columns.js';

/**
 * Finds the call that each goes on from: by the source's ids, by row numbers, or, where only conversations are named, as the
 * one before it in time. Calls that are named but whose conversation isn't get the id of the first of their chain.
 */
export function linkRows(columns: TraceColumns, order: Uint32Array | null): void {
  const { present } = columns;
  if (present.has('parent_row')) linkByRow(columns);
  else if (present.has('id')) linkById(columns);
  else if (present.has('conversation_id')) linkByTime(columns, order);
}

function linkByRow(columns: TraceColumns): void {
  const slots = new Map<number, number>();
  const named = Array.from({ length: columns.length() }, (_, slot) => slot).filter(
    (slot) => columns.parentRow(slot) !== null,
  );
  if (named.length === 0) return;
  for (let slot = 0; slot < columns.length(); slot++) slots.set(columns.row(slot), slot);
  for (const slot of named) {
    const parent = slots.get(columns.parentRow(slot) ?? -1);
    if (parent !== undefined && parent !== slot) columns.setParent(slot, parent);
  }
}

function linkById(columns: TraceColumns): void {
  const length = columns.length();
  const slots = new Map<string, number>();
  for (let slot = 0; slot < length; slot++) {
    const id = columns.id(slot);
    if (id !== undefined && !slots.has(id)) slots.set(id, slot);
  }
  for (let slot = 0; slot < length; slot++) {
    const parent = slots.get(columns.parentId(slot) ?? '');
    if (parent !== undefined && parent !== slot) columns.setParent(slot, parent);
  }
  for (let slot = 0; slot < length; slot++) nameConversation(columns, slot);
}

/** The id of the first call of the chain: of the one that is in the trace, or of the one that it names. */
function nameConversation(columns: TraceColumns, slot: number): void {
  const chain = new Set<number>();
  let at = slot;
  while (columns.conversation(at) === undefined && !chain.has(at)) {
    chain.add(at);
    const parent = columns.parent(at);
    if (parent === null) break;
    at = parent;
  }
  const name = columns.conversation(at) ?? columns.parentId(at) ?? columns.id(at);
  if (name !== undefined) for (const each of chain) columns.setConversation(each, name);
}

function linkByTime(columns: TraceColumns, order: Uint32Array | null): void {
  const last = new Map<string, number>();
  for (let i = 0; i < columns.length(); i++) {
    const slot = order?.[i] ?? i;
    const conversation = columns.conversation(slot);
    if (conversation === undefined) continue;
    const before = last.get(conversation);
    if (before !== undefined) columns.setParent(slot, before);
    last.set(conversation, slot);
  }
}
