import { readFileSync } from 'node:fs';
import {
  AcceleratorsFile,
  type AmbiguousName,
  type CatalogueAccelerator,
  type CatalogueModel,
  type CatalogueSource,
  ModelsFile,
} from './catalogue-schema.js';

/** Facts of models and accelerators, each with its source. They bound results and are never measurements. */
export interface Catalogue {
  /** Day of the facts, `YYYY-MM-DD`. */
  readonly as_of: string;
  readonly models: readonly CatalogueModel[];
  readonly accelerators: readonly CatalogueAccelerator[];
  readonly source_list: Readonly<
    Record<'models' | 'accelerators', Readonly<Record<string, CatalogueSource>>>
  >;
  readonly ambiguous: Readonly<Record<'models' | 'accelerators', readonly AmbiguousName[]>>;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../catalogue/${name}.json`, import.meta.url), 'utf8'));

let shipped: Catalogue | null = null;

/** The catalogue that Perwatt ships; read once. */
export function shippedCatalogue(): Catalogue {
  if (shipped !== null) return shipped;
  const models = ModelsFile.parse(read('models'));
  const accelerators = AcceleratorsFile.parse(read('accelerators'));
  shipped = {
    as_of: models.as_of < accelerators.as_of ? models.as_of : accelerators.as_of,
    models: models.models,
    accelerators: accelerators.accelerators,
    source_list: { models: models.source_list, accelerators: accelerators.source_list },
    ambiguous: { models: models.ambiguous, accelerators: accelerators.ambiguous },
  };
  return shipped;
}
