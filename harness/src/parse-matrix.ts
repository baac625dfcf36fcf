import { didYouMean, issueText, issueWords, MatrixFile, PerwattError } from '@perwatt/core';
import { type Document, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument } from 'yaml';
import type { z } from 'zod';
import { knownKeys } from './known-keys.js';
import { crossChecks, place } from './matrix-checks.js';

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
      doc.errors.map((e) => ({ line: lineAt(e.pos[0]), text: syntaxText(e) })),
    );
  }
  const lineOf = (path: readonly PropertyKey[]) => {
    const offset = offsetOf(doc.contents, path);
    return offset === null ? null : lineAt(offset);
  };
  const parsed = MatrixFile.safeParse(valuesOf(doc, file) ?? {}, { error: issueWords, reportInput: true });
  if (!parsed.success)
    throw invalid(
      file,
      parsed.error.issues.flatMap((issue) => problemsOf(issue, lineOf)),
    );
  const problems = crossChecks(parsed.data).map(({ path, text }) => ({ line: lineOf(path), text }));
  if (problems.length > 0) throw invalid(file, problems);
  return parsed.data;
}

/** What mends a mistake of syntax, by the parser's name for it. */
const remedies: Readonly<Record<string, string>> = {
  BAD_INDENT: 'entries of one mapping or list begin in one column',
  BLOCK_AS_IMPLICIT_KEY: 'put a text with ": " in it in quotes',
  DUPLICATE_KEY: 'a key may stand once; join what stands under it',
  TAB_AS_INDENT: 'indent with blanks',
};

function syntaxText({ code, message }: Pick<Document['errors'][number], 'code' | 'message'>): string {
  if (code === 'MULTIPLE_DOCS')
    return 'a second document begins here; put each matrix into a file of its own';
  const remedy = remedies[code];
  return remedy === undefined ? lower(message) : `${lower(message)}: ${remedy}`;
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
      text: `unknown key ${place([...issue.path, key])}${didYouMean(key, knownKeys(issue.path))}`,
    }));
  }
  const meant = issue.code === 'invalid_union' ? meantForm(issue.errors) : null;
  if (meant !== null)
    return meant.flatMap((inner) =>
      problemsOf({ ...inner, path: [...issue.path, ...inner.path] } as z.core.$ZodIssue, lineOf),
    );
  return [{ line: lineOf(issue.path), text: issueText(place(issue.path), issue) }];
}

/** What is wrong with the form of a key of several forms that was most likely meant; null when none is of its type. */
function meantForm(forms: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | null {
  const ofType = forms.filter((issues) =>
    issues.every(({ code, path }) => path.length > 0 || !['invalid_type', 'invalid_value'].includes(code)),
  );
  return ofType.toSorted((a, b) => a.length - b.length)[0] ?? null;
}

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
