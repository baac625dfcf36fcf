export { figureRows } from './figure-rows.js';
export type {
  Basis,
  Figure,
  ForeignFile,
  Importer,
  ImportOptions,
  PublishedRecord,
  SourceFacts,
  Statistic,
} from './importer.js';
export { importerByKind, importers } from './importers.js';
