import { createHash } from 'node:crypto';
import { type MatrixFile, PerwattError } from '@perwatt/core';

/** What of a run says which matrix it was made of. */
export interface MatrixPart {
  readonly path: string;
  readonly matrix: MatrixFile;
  readonly matrix_sha256: string;
}

const shared = ['protocol', 'energy', 'simulate'] as const;
const sections = ['endpoints', 'engines'] as const;
const axes = ['model', 'accelerator', 'dataset', 'strategy', 'load', 'variant'] as const;

/**
 * One matrix for the cells of several: their axes put together. What decides which cells there are, and in what order, is left
 * out. Throws `INPUT_INVALID` where they differ in what holds for all cells, or call different things by one name.
 */
export function mergedMatrix(parts: readonly MatrixPart[]): Pick<MatrixPart, 'matrix' | 'matrix_sha256'> {
  const [first, ...others] = parts;
  if (first === undefined) throw new RangeError('no matrix to merge');
  if (others.every(({ matrix_sha256 }) => matrix_sha256 === first.matrix_sha256))
    return { matrix: first.matrix, matrix_sha256: first.matrix_sha256 };
  for (const other of others)
    for (const key of shared)
      if (text(other.matrix[key]) !== text(first.matrix[key])) {
        const { path, sides } = firstDifference(key, first.matrix[key], other.matrix[key]);
        const [own, theirs] = sides.map((side) => shortened(side === undefined ? 'nothing' : text(side)));
        throw refused(`${path} of ${first.path} is ${own}, that of ${other.path} ${theirs}`);
      }
  const matrices = parts.map(({ matrix }) => matrix);
  const { include: _, exclude: __, constraints: ___, ...base } = first.matrix;
  const models = union(parts, ({ models: own = [] }) => own, 'models');
  const merged = {
    ...base,
    name: [...new Set(matrices.map(({ name }) => name))].join('+').slice(0, 80),
    axes: Object.fromEntries(
      axes.flatMap((axis) => {
        const values = union(parts, (matrix) => matrix.axes[axis] ?? [], `axes.${axis}`);
        return values.length === 0 ? [] : [[axis, values]];
      }),
    ),
    ...(models.length === 0 ? {} : { models }),
    ...Object.fromEntries(sections.map((section) => [section, named(parts, section)])),
  } as MatrixFile;
  const hashes = parts.map(({ matrix_sha256 }) => matrix_sha256).sort();
  return { matrix: merged, matrix_sha256: createHash('sha256').update(hashes.join(' ')).digest('hex') };
}

const refused = (message: string) =>
  new PerwattError('INPUT_INVALID', message, {
    hint: 'Merge runs that agree on it; use `perwatt compare` for the others.',
  });

const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The first place, in the order of names, at which two values that are not equal part. */
function firstDifference(
  path: string,
  a: unknown,
  b: unknown,
): { readonly path: string; readonly sides: readonly [unknown, unknown] } {
  if (!isTree(a) || !isTree(b)) return { path, sides: [a, b] };
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const name = names.find((own) => text(a[own]) !== text(b[own]));
  return name === undefined ? { path, sides: [a, b] } : firstDifference(`${path}.${name}`, a[name], b[name]);
}

const shortened = (value: string): string => (value.length > 80 ? `${value.slice(0, 79)}…` : value);

type Entry = Readonly<Record<string, unknown>>;

/** Values of all, each once. Without `when`, which is about cells that exist, not about what a value is. */
function union(
  parts: readonly MatrixPart[],
  of: (matrix: MatrixFile) => readonly object[],
  where: string,
): Entry[] {
  const known = new Map<string, { readonly entry: Entry; readonly path: string }>();
  for (const { path, matrix } of parts) {
    for (const { when: _, ...entry } of of(matrix) as readonly Entry[]) {
      const id = String(
        entry['id'] ?? text({ arrivals: entry['arrivals'], concurrency: entry['concurrency'] }),
      );
      const before = known.get(id);
      if (before !== undefined && text(before.entry) !== text(entry))
        throw refused(`${where} "${id}" is one thing in ${before.path} and another in ${path}`);
      known.set(id, before ?? { entry, path });
    }
  }
  return [...known.values()].map(({ entry }) => entry);
}

function named(parts: readonly MatrixPart[], section: (typeof sections)[number]): Entry | undefined {
  const entries = parts.flatMap(({ path, matrix }) =>
    Object.entries(matrix[section] ?? {}).map(([id, entry]) => ({ id, entry, path })),
  );
  const known = new Map<string, (typeof entries)[number]>();
  for (const own of entries) {
    const before = known.get(own.id);
    if (before !== undefined && text(before.entry) !== text(own.entry))
      throw refused(`${section}.${own.id} is one thing in ${before.path} and another in ${own.path}`);
    known.set(own.id, before ?? own);
  }
  return known.size === 0 ? undefined : Object.fromEntries([...known].map(([id, { entry }]) => [id, entry]));
}

/** JSON with sorted keys: equal values give equal text. */
const text = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
