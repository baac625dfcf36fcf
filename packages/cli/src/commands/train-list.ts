import { type Recipe, recipes } from '@perwatt/recipes';
import { Command } from 'commander';
import type { Io } from '../io.js';

/** `perwatt train list`: the recipes, or what one of them may be told. */
export const trainListCommand = (io: Io): Command =>
  new Command('list')
    .description('List the recipes with their parameters and defaults')
    .option('--json', 'print them as JSON')
    .action((flags: { readonly json?: boolean }, self: Command) => {
      const json = flags.json ?? self.optsWithGlobals<{ json?: boolean }>().json;
      if (json === true) return io.print(JSON.stringify(recipes.map(recipeJson), null, 2));
      for (const recipe of recipes) for (const line of recipeLines(recipe)) io.print(line);
    });

const recipeJson = ({ id, version, title, summary, slow, effort, claims, parameters }: Recipe) => ({
  id,
  version,
  title,
  summary,
  slow: slow === true,
  effort,
  claims,
  parameters,
});

const recipeLines = ({ id, summary, slow, parameters }: Recipe): string[] => [
  `${id}: ${summary}${slow === true ? ' (slow: minutes a seed)' : ''}`,
  ...parameters.map((own) => `  ${`${own.name}=${own.default}`.padEnd(24)} ${own.summary}`),
];
