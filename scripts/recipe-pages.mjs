import { mkdirSync, writeFileSync } from 'node:fs';
import { recipeIndex, recipePage, recipes } from '@perwatt/recipes';

const folder = new URL('../docs/recipes/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const recipe of recipes) writeFileSync(new URL(`${recipe.id}.md`, folder), recipePage(recipe));
writeFileSync(new URL('../docs/recipes.md', import.meta.url), recipeIndex(recipes));
