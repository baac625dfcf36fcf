import type { MatrixFile, VariantEntry } from '@perwatt/core';
import type { CellSettings } from '@perwatt/records';
import { canonicalJson, sha256Hex } from './canonical.js';
import type { Point } from './points.js';
import type { Merged } from './variants.js';

/** The settings of a cell that tables show, as declared; null where nothing says. */
export function settingsOf({ engine }: Pick<Merged, 'engine'>, variant: VariantEntry | null): CellSettings {
  const started = engine === null || engine.kind === 'agent' ? null : engine;
  const parallel = Object.entries(started?.parallel ?? {}).map(([way, devices]) => `${way}=${devices}`);
  return {
    quantisation: started?.quantisation ?? null,
    context_tokens: started?.context_tokens ?? null,
    engine_flags: started === null || started.flags.length === 0 ? null : started.flags.join(' '),
    parallel: parallel.length === 0 ? null : parallel.join(' '),
    reasoning_effort: variant?.reasoning_effort ?? null,
    power_cap_w: variant?.power_cap_w ?? null,
  };
}

/** The entries of what its strategy binds by name; undefined where it binds nothing. */
function boundModels({ strategy: { bind } }: Point, { axes, models = [] }: MatrixFile) {
  if (bind === undefined) return undefined;
  const names = Object.values(bind).map((own) => (typeof own === 'string' ? own : own.model));
  return [...axes.model, ...models].filter(({ id }) => names.includes(id));
}

/** sha256 of a cell as the matrix declares it, before defaults and digests. */
export function declaredHash(p: Point, matrix: MatrixFile): string {
  const { point: _, ...entries } = p;
  const { endpoint, engine } = p.model;
  return sha256Hex(
    canonicalJson({
      ...entries,
      endpoint: endpoint === undefined ? undefined : matrix.endpoints?.[endpoint],
      engine: engine === undefined ? undefined : matrix.engines?.[engine],
      seed: matrix.seed,
      protocol: matrix.protocol,
      repeats: matrix.repeats,
      warm_up: matrix.warm_up,
      models: boundModels(p, matrix),
    }),
  );
}
