import { issueText, issueWords, PerwattError } from '@perwatt/core';
import type * as z from 'zod';
import { countParams } from '../flops/count-params.js';
import { parseOwnYaml } from '../own-yaml.js';
import { type CatalogueModel, OwnEntries } from './catalogue-schema.js';
import type { Catalogue } from './load-catalogue.js';

interface OwnFile {
  /** YAML or JSON: `{ models: [...], accelerators: [...] }`. */
  readonly text: string;
  /** Name for error messages. */
  readonly file: string;
}

/**
 * The catalogue with a user's own entries. An id that is known already is an error unless the entry says
 * `override: true`. Counts of parameters that are not given follow from the shape; those that are given must agree with
 * it. Throws `INPUT_INVALID`, naming file and field of every problem.
 */
export function withOwnEntries(catalogue: Catalogue, { text, file }: OwnFile): Catalogue {
  const own = parse(text, file);
  const problems = [
    ...duplicates(own.models, catalogue.models, 'models'),
    ...duplicates(own.accelerators, catalogue.accelerators, 'accelerators'),
    ...own.models.flatMap((model, i) => countProblems(model).map((text) => `models[${i}].${text}`)),
  ];
  if (problems.length > 0) throw invalid(file, problems);
  return {
    ...catalogue,
    models: merged(catalogue.models, own.models.map(withCounts)),
    accelerators: merged(catalogue.accelerators, own.accelerators),
  };
}

function parse(text: string, file: string): z.infer<typeof OwnEntries> {
  const read = parseOwnYaml(text);
  if ('problems' in read) throw invalid(file, read.problems);
  const result = OwnEntries.safeParse(read.value, { error: issueWords, reportInput: true });
  if (result.success) return result.data;
  throw invalid(
    file,
    result.error.issues.map((issue) => issueText(pathText(issue.path), issue)),
  );
}

const invalid = (file: string, problems: readonly string[]) =>
  new PerwattError('INPUT_INVALID', `catalogue file ${file}: ${problems.join('; ')}`);

const pathText = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? 'the file'
    : path
        .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
        .join('')
        .slice(1);

interface OwnEntry {
  readonly id: string;
  readonly override: boolean;
}

function duplicates(
  own: readonly OwnEntry[],
  known: readonly { readonly id: string }[],
  kind: string,
): string[] {
  const ids = new Set(known.map(({ id }) => id));
  return own.flatMap(({ id, override }, i) => {
    if (own.findIndex((other) => other.id === id) < i) return [`${kind}[${i}].id: "${id}" stands twice`];
    if (ids.has(id) && !override)
      return [`${kind}[${i}].id: "${id}" is known already; say \`override: true\` to replace it`];
    if (!ids.has(id) && override) return [`${kind}[${i}].override: there is no "${id}" to replace`];
    return [];
  });
}

function countProblems(model: CatalogueModel): string[] {
  if (model.shape === null) return [];
  const counted = countsOf(model, model.shape);
  return (['params_total', 'params_active'] as const).flatMap((field) =>
    model[field] === null || model[field] === counted[field]
      ? []
      : [`${field}: ${model[field]} is not the ${counted[field]} that the shape gives`],
  );
}

function countsOf(model: CatalogueModel, shape: NonNullable<CatalogueModel['shape']>) {
  const { total, active } = countParams(shape);
  return { params_total: total + (model.vision_params ?? 0), params_active: active };
}

const withCounts = <M extends CatalogueModel>(model: M): M =>
  model.shape === null ? model : { ...model, ...countsOf(model, model.shape) };

function merged<E extends { readonly id: string }>(known: readonly E[], own: readonly (E & OwnEntry)[]): E[] {
  const mine = new Map<string, E>(own.map(({ override: _, ...entry }) => [entry.id, entry as unknown as E]));
  const ids = new Set(known.map(({ id }) => id));
  return [
    ...known.map((entry) => mine.get(entry.id) ?? entry),
    ...[...mine.values()].filter(({ id }) => !ids.has(id)),
  ];
}
