export { datasetCatalogue, loadDataset } from './catalogue.js';
export type { CatalogueEntry, LoadContext } from './dataset.js';
export type { OptionInfo } from './options.js';
