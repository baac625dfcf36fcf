import { type Condition, MatrixFile, PerwattError, pointAxes } from '@perwatt/core';
import { type Document, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import type { z } from 'zod';

interface Problem {
  readonly line: number | null;
  readonly text: string;
}

/**
 * The matrix a YAML text describes, defaults filled in. Throws one `MATRIX_INVALID` that lists every problem with its
 * line in `file` (of very many, the first): syntax, unknown keys, wrong values, duplicate axis values, names that point nowhere.
 */
export function parseMatrix(text: string, file: string): MatrixFile {
  if (text.includes('\0')) throw invalid(file, [{ line: null, text: 'this is no text' }]);
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  if (doc.errors.length > 0) {
    throw invalid(
      file,
      doc.errors.map((e) => ({ line: lineAt(e.pos[0]), text: e.message })),
    );
  }
  const lineOf = (path: readonly PropertyKey[]) => {
    const offset = offsetOf(doc.contents, path);
    return offset === null ? null : lineAt(offset);
  };
  const parsed = MatrixFile.safeParse(valuesOf(doc, file) ?? {});
  if (!parsed.success)
    throw invalid(
      file,
      parsed.error.issues.flatMap((issue) => problemsOf(issue, lineOf)),
    );
  const problems = crossChecks(parsed.data).map(({ path, text }) => ({ line: lineOf(path), text }));
  if (problems.length > 0) throw invalid(file, problems);
  return parsed.data;
}

/** Most times that aliases may be resolved: far more than people write, far less than a file made to fill the memory. */
const MOST_ALIASES = 200;

function valuesOf(doc: Pick<Document, 'toJS'>, file: string): unknown {
  try {
    return doc.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    const text = /excessive/i.test(error.message)
      ? `its aliases stand for more than ${MOST_ALIASES} values; write them out, or name fewer`
      : lower(error.message);
    throw invalid(file, [{ line: null, text }]);
  }
}

/** Most problems that are listed; the rest are counted. */
const MOST = 30;
const LONGEST = 300;

function invalid(file: string, problems: readonly Problem[]): PerwattError {
  const sorted = problems.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const rows = sorted
    .slice(0, MOST)
    .map(({ line, text }) => `  ${line === null ? file : `${file}:${line}`}: ${clip(text)}`);
  const more = sorted.length > MOST ? `\n  and ${sorted.length - MOST} more` : '';
  return new PerwattError('MATRIX_INVALID', `${file} is not a valid matrix\n${rows.join('\n')}${more}`);
}

const clip = (text: string) => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);

type LineOf = (path: readonly PropertyKey[]) => number | null;

function problemsOf(issue: z.core.$ZodIssue, lineOf: LineOf): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      line: lineOf([...issue.path, key]),
      text: `unknown key ${place([...issue.path, key])}`,
    }));
  }
  return [{ line: lineOf(issue.path), text: `${place(issue.path)}: ${lower(issue.message)}` }];
}

const place = (path: readonly PropertyKey[]) =>
  path.length === 0
    ? 'the file'
    : path.map((p, i) => (typeof p === 'number' ? `[${p}]` : `${i === 0 ? '' : '.'}${String(p)}`)).join('');

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** Where the deepest node along `path` begins, so that a missing key is reported at its parent. */
function offsetOf(root: ParsedNode | null, path: readonly PropertyKey[]): number | null {
  let node: unknown = root;
  let offset = root?.range[0] ?? null;
  for (const part of path) {
    const next = step(node, part);
    if (next === null) return offset;
    offset = next.offset;
    node = next.node;
  }
  return offset;
}

function step(node: unknown, part: PropertyKey): { node: unknown; offset: number } | null {
  if (isMap<unknown, unknown>(node)) {
    const pair = node.items.find((item) => isScalar(item.key) && item.key.value === part);
    const offset = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
    return pair === undefined || offset === undefined ? null : { node: pair.value, offset };
  }
  if (isSeq<unknown>(node) && typeof part === 'number') {
    const item = node.items[part] as ParsedNode | undefined;
    return item === undefined ? null : { node: item, offset: item.range[0] };
  }
  return null;
}

function crossChecks(matrix: MatrixFile): { path: PropertyKey[]; text: string }[] {
  return [
    ...duplicates(matrix),
    ...danglingEndpoints(matrix),
    ...danglingEngines(matrix),
    ...danglingPoints(matrix),
    ...danglingConditions(matrix),
    ...capsWithoutCommands(matrix),
  ];
}

function* duplicates(matrix: MatrixFile) {
  for (const axis of pointAxes) {
    const seen = new Set<string>();
    for (const [index, entry] of (matrix.axes[axis] ?? []).entries()) {
      const id = axisId(entry);
      if (seen.has(id)) {
        yield {
          path: ['axes', axis, index],
          text: `axes.${axis} holds "${id}" twice; give each value its own id`,
        };
      }
      seen.add(id);
    }
  }
}

function* danglingEndpoints(matrix: MatrixFile) {
  const known = Object.keys(matrix.endpoints ?? {});
  for (const [index, model] of matrix.axes.model.entries()) {
    if (model.endpoint === undefined || known.includes(model.endpoint)) continue;
    const names =
      known.length === 0 ? 'there is no `endpoints` section' : `endpoints are ${known.join(', ')}`;
    const text = `axes.model[${index}].endpoint names "${model.endpoint}", but ${names}`;
    yield { path: ['axes', 'model', index, 'endpoint'], text };
  }
}

function* danglingEngines({ axes, engines = {}, power }: MatrixFile) {
  const known = Object.keys(engines);
  const names = known.length === 0 ? 'there is no `engines` section' : `engines are ${known.join(', ')}`;
  for (const [index, { engine }] of axes.model.entries()) {
    if (engine === undefined || known.includes(engine)) continue;
    const text = `axes.model[${index}].engine names "${engine}", but ${names}`;
    yield { path: ['axes', 'model', index, 'engine'], text };
  }
  const agents = (power?.agents ?? []).map(({ id }) => id);
  for (const [id, entry] of Object.entries(engines)) {
    if (entry.kind !== 'agent' || agents.includes(entry.agent)) continue;
    const text = `engines.${id}.agent names "${entry.agent}", but \`power.agents\` has ${agents.join(', ') || 'none'}`;
    yield { path: ['engines', id, 'agent'], text };
  }
}

function* danglingPoints(matrix: MatrixFile) {
  for (const section of ['include', 'exclude'] as const) {
    for (const [index, point] of (matrix[section] ?? []).entries()) {
      for (const axis of pointAxes) {
        const ids = (matrix.axes[axis] ?? []).map((entry) => axisId(entry));
        const unknown = [point[axis] ?? []]
          .flat()
          .map(String)
          .filter((value) => !ids.includes(value));
        for (const value of unknown) {
          const text = `${section}[${index}].${axis} names "${value}", which is not on the axis (${ids.join(', ')})`;
          yield { path: [section, index, axis], text };
        }
      }
    }
  }
}

interface PlacedCondition {
  readonly path: PropertyKey[];
  readonly condition: Condition | undefined;
}

function conditionsOf(matrix: MatrixFile): PlacedCondition[] {
  const ofValues = pointAxes.flatMap((axis) =>
    (matrix.axes[axis] ?? []).map((entry, i) => ({
      path: ['axes', axis, i, 'when'],
      condition: (entry as { readonly when?: Condition | undefined }).when,
    })),
  );
  const ofConstraints = (matrix.constraints ?? []).flatMap((constraint, i) =>
    (['when', 'require', 'forbid'] as const).map((part) => ({
      path: ['constraints', i, part],
      condition: constraint[part],
    })),
  );
  return [...ofValues, ...ofConstraints];
}

/** Conditions on an axis that is none, or on a value that is not on its axis. */
function* danglingConditions(matrix: MatrixFile) {
  for (const { path, condition = {} } of conditionsOf(matrix)) {
    for (const [key, test] of Object.entries(condition)) {
      const axis = pointAxes.find((name) => name === key.split('.')[0]);
      const where = place([...path, key]);
      if (axis === undefined) {
        yield { path: [...path, key], text: `${where} names no axis; axes are ${pointAxes.join(', ')}` };
        continue;
      }
      if (axis !== key) continue;
      const ids = (matrix.axes[axis] ?? []).map((entry) => axisId(entry));
      for (const value of namedBy(test).filter((id) => !ids.includes(id)))
        yield {
          path: [...path, key],
          text: `${where} names "${value}", which is not on the axis (${ids.join(', ') || 'it is empty'})`,
        };
    }
  }
}

function namedBy(test: Condition[string]): string[] {
  if (typeof test !== 'object' || Array.isArray(test)) return [test].flat().map(String);
  return test.not === undefined ? [] : [test.not].flat().map(String);
}

function* capsWithoutCommands({ axes, power_cap }: MatrixFile) {
  if (power_cap !== undefined) return;
  for (const [index, { power_cap_w }] of (axes.variant ?? []).entries()) {
    if (power_cap_w === undefined) continue;
    const text = `axes.variant[${index}].power_cap_w needs \`power_cap\` with commands that set, read and restore the limit`;
    yield { path: ['axes', 'variant', index, 'power_cap_w'], text };
  }
}

interface AxisEntry {
  readonly id?: string | undefined;
  readonly concurrency?: unknown;
  readonly arrivals?: { readonly kind: string; readonly rate_per_s?: number } | undefined;
}

/** The name of an axis value in tables. A load without a name is called after its concurrency, or its arrivals and their rate. */
export function axisId({ id, concurrency, arrivals }: AxisEntry): string {
  if (id !== undefined) return id;
  if (arrivals === undefined) return `c${String(concurrency)}`;
  return arrivals.rate_per_s === undefined ? arrivals.kind : `${arrivals.kind}-${arrivals.rate_per_s}`;
}
