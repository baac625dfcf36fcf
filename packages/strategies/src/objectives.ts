/** One piece of work that a root hands out. */
export interface Objective {
  readonly instruction: string;
  /** Keys of passages that the clone is to read. */
  readonly context: readonly string[];
}

/** Objectives that are carried out, and why the others are not. */
export interface ReadObjectives {
  readonly accepted: readonly Objective[];
  readonly rejected: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The objectives in the arguments of a spawning tool. Takes `objectives`, `tasks` or `objective` as a list, or as one text; entries
 * are texts, or objects with `instruction`, `objective` or `task` and keys of their own. More than `limit` are rejected, not
 * dropped silently.
 */
export function readObjectives(args: Fields, limit: number): ReadObjectives {
  const given = args['objectives'] ?? args['tasks'] ?? args['objective'] ?? args['msgs'];
  const list = typeof given === 'string' ? [given] : given;
  if (!Array.isArray(list)) return { accepted: [], rejected: ['objectives are no list of texts'] };
  const shared = keysIn(args['shared_context'] ?? args['context']);
  const accepted: Objective[] = [];
  const rejected: string[] = [];
  for (const [i, entry] of list.entries()) {
    const read = readEntry(entry, shared);
    if (typeof read === 'string') rejected.push(`objective ${i + 1}: ${read}`);
    else if (accepted.length >= limit) rejected.push(`objective ${i + 1}: over the limit of ${limit} clones`);
    else accepted.push(read);
  }
  return { accepted, rejected };
}

function readEntry(entry: unknown, shared: readonly string[]): Objective | string {
  if (typeof entry === 'string')
    return entry.trim() === '' ? 'missing instruction' : { instruction: entry, context: shared };
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return 'neither a text nor an object';
  const fields = entry as Fields;
  const instruction = fields['instruction'] ?? fields['objective'] ?? fields['task'];
  if (typeof instruction !== 'string' || instruction.trim() === '') return 'missing instruction';
  const own = keysIn(fields['shared_context'] ?? fields['context']);
  return { instruction, context: [...new Set([...shared, ...own])] };
}

const keysIn = (value: unknown): string[] => {
  const list = typeof value === 'string' ? [value] : value;
  return Array.isArray(list) ? list.filter((key): key is string => typeof key === 'string') : [];
};
