/** Colours that stay apart for most eyes, on white and on near-black. */
const palette = [
  '#3b82d6',
  '#e07b22',
  '#2aa876',
  '#c25aa8',
  '#a5813c',
  '#7a6fd0',
  '#d2544f',
  '#1d97a8',
  '#8aa82f',
  '#8b5a3c',
  '#5f7a96',
  '#b3447f',
  '#4aa3df',
  '#c79a1c',
  '#4f8a4a',
  '#9a86a8',
] as const;

/** A model's colour by its place among the models of the run; the same in every figure of a page. */
export function modelColour(models: readonly string[], model: string): string {
  const place = Math.max(models.indexOf(model), 0);
  return palette[place % palette.length] ?? palette[0];
}

const symbols = ['circle', 'diamond', 'square', 'triangle-up', 'cross', 'star'] as const;

/** A mark for one data set. */
export function datasetSymbol(datasets: readonly string[], dataset: string): string {
  return symbols[Math.max(datasets.indexOf(dataset), 0) % symbols.length] ?? symbols[0];
}
