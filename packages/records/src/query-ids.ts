/** Escapes the separator, the escape sign, blanks and control characters, as in a URL; the rest stays readable. */
const escaped = (text: string): string => text.replace(/[%/\p{Cc}\p{Z}]/gu, encodeURIComponent);

/** `<cell_id>/<item_id>/<repeat>`, unique in a run. Parts are escaped, so that any item id is safe and comes back. */
export const queryId = (cellId: string, itemId: string, repeat: number): string =>
  `${escaped(cellId)}/${escaped(itemId)}/${repeat}`;

/** What a query id is made of. */
export interface QueryIdParts {
  readonly cell_id: string;
  readonly item_id: string;
  /** From 0. */
  readonly repeat: number;
}

/** The parts of a query id; null when `id` is none (as for warm-up calls). */
export function parseQueryId(id: string): QueryIdParts | null {
  const match = /^([^/]+)\/([^/]*)\/(0|[1-9]\d*)$/.exec(id);
  if (match === null) return null;
  const [, cell = '', item = '', repeat = ''] = match;
  try {
    return { cell_id: decodeURIComponent(cell), item_id: decodeURIComponent(item), repeat: Number(repeat) };
  } catch {
    return null;
  }
}
