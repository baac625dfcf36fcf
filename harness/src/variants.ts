import {
  type AcceleratorEntry,
  type EndpointEntry,
  type EngineEntry,
  issueText,
  issueWords,
  MatrixFile,
  type ModelEntry,
  PerwattError,
  type StrategyEntry,
} from '@perwatt/core';
import { place } from './matrix-checks.js';
import type { Point } from './points.js';

/** What a cell is made of once its variant's settings are merged in. */
export interface Merged {
  readonly model: ModelEntry;
  readonly endpoint: EndpointEntry | null;
  readonly engine: EngineEntry | null;
  readonly accelerator: AcceleratorEntry;
  readonly strategy: StrategyEntry;
}

type Json = Readonly<Record<string, unknown>>;

/** The entries of a point with its variant's settings. Throws `MATRIX_INVALID` for settings that nothing takes. */
export function mergeVariant(p: Point, matrix: MatrixFile): Merged {
  const { variant } = p;
  const own = (model: ModelEntry, from: MatrixFile = matrix) => ({
    endpoint: model.endpoint === undefined ? null : (from.endpoints?.[model.endpoint] ?? null),
    engine: model.engine === undefined ? null : (from.engines?.[model.engine] ?? null),
  });
  if (variant === null)
    return { model: p.model, ...own(p.model), accelerator: p.accelerator, strategy: p.strategy };
  const fail = (text: string) =>
    new PerwattError('MATRIX_INVALID', `variant ${variant.id} with model ${p.model.id}: ${text}`, {
      hint: 'Mend the variant, or give it `when` for the cells that it exists for.',
    });
  const model = merge(p.model, variant.model, fail);
  const { endpoint: toEndpoint, engine: toEngine } = model as ModelEntry;
  const named = (section: 'endpoints' | 'engines', name: string | undefined, more: Json | undefined) => {
    if (more === undefined) return {};
    const entry = name === undefined ? undefined : matrix[section]?.[name];
    if (name === undefined || entry === undefined) throw fail(`the model has no entry of \`${section}\``);
    return { [section]: { ...matrix[section], [name]: merge(entry, more, fail) } };
  };
  const merged = {
    ...matrix,
    ...named('endpoints', toEndpoint, variant.endpoint),
    ...named('engines', toEngine, variant.engine),
    axes: {
      ...matrix.axes,
      model: [model],
      accelerator: [merge(p.accelerator, variant.accelerator, fail)],
      strategy: [merge(p.strategy, variant.strategy, fail)],
    },
  };
  const parsed = MatrixFile.safeParse(merged, { error: issueWords, reportInput: true });
  const issue = parsed.error?.issues[0];
  if (!parsed.success) throw fail(issue === undefined ? 'invalid' : issueText(place(issue.path), issue));
  const [mergedModel = p.model] = parsed.data.axes.model;
  const [accelerator = p.accelerator] = parsed.data.axes.accelerator;
  const [strategy = p.strategy] = parsed.data.axes.strategy;
  const found = own(mergedModel, parsed.data);
  if (mergedModel.endpoint !== undefined && found.endpoint === null)
    throw fail(`there is no endpoint "${mergedModel.endpoint}"`);
  if (mergedModel.engine !== undefined && found.engine === null)
    throw fail(`there is no engine "${mergedModel.engine}"`);
  if (variant.reasoning_effort !== undefined && found.endpoint === null && found.engine === null)
    throw fail('`reasoning_effort` needs a server; the embedded engine has none');
  return { model: mergedModel, ...found, accelerator, strategy };
}

/** Objects member by member, anything else replaced. An `id` stays as it is. */
function merge(base: Json, more: Json | undefined, fail: (text: string) => PerwattError): Json {
  if (more === undefined) return base;
  if ('id' in more || 'when' in more) throw fail('`id` and `when` cannot be merged');
  return mergeDeep(base, more);
}

const mergeDeep = (base: Json, more: Json): Json => ({
  ...base,
  ...Object.fromEntries(
    Object.entries(more).map(([key, value]) => {
      const before = base[key];
      return [key, isPlain(value) && isPlain(before) ? mergeDeep(before, value) : value];
    }),
  ),
});

const isPlain = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
