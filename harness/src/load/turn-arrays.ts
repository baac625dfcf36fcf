/**
 * The conversations of a load: what each of its calls goes on from. Arrays lie in shared memory, so that workers share them. A
 * *place* is that of a row in the trace, of which a load may hold a part.
 */
export interface TurnArrays {
  /** Place of each call. */
  readonly slot: Uint32Array;
  /** Place of the row that the row of each place goes on from; -1 where it begins a conversation. */
  readonly parent: Int32Array;
  /** Number of the row of each place. */
  readonly row: Uint32Array;
  readonly texts: TurnTexts | null;
}

/** Texts of a trace in a file that is open in all threads. */
export interface TurnTexts {
  readonly fd: number;
  /**
   * Two parts a place: the messages that the row adds, as the inside of a JSON array, and the answer of the trace as JSON text,
   * which is empty where there was none. Part i lies from byte `offsets[i]` to `offsets[i + 1]`.
   */
  readonly offsets: Float64Array;
  /** Whether a row's messages are all of its prompt; else those of the rows before it in its conversation come first. */
  readonly whole: boolean;
  /** Tokens of each place's prompt by the local count; null when nobody counted. */
  readonly tokens: Uint32Array | null;
}

/** What the calls of a load go on from, by the numbers of the calls. */
export interface TurnLinks {
  /** Of each call the one it goes on from; -1 for none. It stands before the call. */
  readonly parent: Int32Array;
  /** 1 for a call that goes on from a row that is not in this load. */
  readonly absent: Uint8Array;
  /** Number of each call's conversation, from 0 in order of their first calls. */
  readonly conversation: Uint32Array;
  readonly conversations: number;
}

/** Finds the calls that those of a load go on from. A row that names itself or a later one goes on from none. */
export function turnLinks({ slot, parent }: Pick<TurnArrays, 'slot' | 'parent'>): TurnLinks {
  const count = slot.length;
  const places = new Int32Array(parent.length).fill(-1);
  const links = {
    parent: new Int32Array(count).fill(-1),
    absent: new Uint8Array(count),
    conversation: new Uint32Array(count),
  };
  let conversations = 0;
  for (let i = 0; i < count; i++) {
    const place = slot[i] ?? 0;
    const from = parent[place] ?? -1;
    const call = from < 0 ? -1 : (places[from] ?? -1);
    places[place] = i;
    links.parent[i] = call;
    links.absent[i] = from >= 0 && from !== place && call < 0 ? 1 : 0;
    links.conversation[i] = call < 0 ? conversations++ : (links.conversation[call] ?? 0);
  }
  return { ...links, conversations };
}
