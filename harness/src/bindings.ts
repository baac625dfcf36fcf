import {
  didYouMean,
  type EndpointEntry,
  type EngineEntry,
  type MatrixFile,
  type ModelEntry,
  PerwattError,
  type StrategyEntry,
} from '@perwatt/core';
import type { Merged } from './variants.js';

/** A model that a strategy reaches under a name of its own, not prepared yet. */
export interface Binding extends Pick<Merged, 'model' | 'endpoint' | 'engine' | 'accelerator'> {
  /** Name that the strategy calls it by: `strong`, `weak`, `verifier` … */
  readonly name: string;
}

interface BindingInput {
  readonly matrix: MatrixFile;
  readonly merged: Merged;
  /** Endpoints that the strategy needs with its parameters. */
  readonly needs: readonly string[];
}

/**
 * What stands behind the endpoints of a strategy other than `main`. Throws `ENDPOINT_UNKNOWN` for one that is needed and
 * bound to nothing, or bound and not needed.
 */
export function bindingsOf(strategy: StrategyEntry, { matrix, merged, needs }: BindingInput): Binding[] {
  const { id, bind = {} } = strategy;
  const wanted = needs.filter((name) => name !== 'main');
  const unbound = wanted.filter((name) => !(name in bind));
  if (unbound.length > 0)
    throw new PerwattError('ENDPOINT_UNKNOWN', `strategy "${id}" needs a model for ${unbound.join(', ')}`, {
      hint: `Bind it: \`{ id: ${id}, bind: { ${unbound[0]}: <model> } }\`, or give it the name \`main\` in the parameters.`,
    });
  const surplus = Object.keys(bind).find((name) => !wanted.includes(name));
  if (surplus !== undefined)
    throw new PerwattError(
      'ENDPOINT_UNKNOWN',
      `strategy "${id}" has no endpoint "${surplus}"${wanted.length === 0 ? ' but main' : didYouMean(surplus, wanted)}`,
      { hint: 'Mend the key of `bind`, or leave it out.' },
    );
  return wanted.map((name) => ({ name, ...boundTo(bind[name] ?? 'main', { matrix, merged }) }));
}

type Bound = NonNullable<StrategyEntry['bind']>[string];

function boundTo(bound: Bound, { matrix, merged }: Omit<BindingInput, 'needs'>): Omit<Binding, 'name'> {
  const { model: name, accelerator: device } = typeof bound === 'string' ? { model: bound } : bound;
  const accelerator = matrix.axes.accelerator.find(({ id }) => id === device) ?? merged.accelerator;
  const model = [...matrix.axes.model, ...(matrix.models ?? [])].find(({ id }) => id === name);
  if (model === undefined) {
    const { model: own, endpoint, engine } = merged;
    return { model: own, endpoint, engine, accelerator };
  }
  return { model, ...serving(model, matrix), accelerator };
}

const serving = (
  { endpoint, engine }: ModelEntry,
  { endpoints = {}, engines = {} }: MatrixFile,
): { endpoint: EndpointEntry | null; engine: EngineEntry | null } => ({
  endpoint: endpoint === undefined ? null : (endpoints[endpoint] ?? null),
  engine: engine === undefined ? null : (engines[engine] ?? null),
});
