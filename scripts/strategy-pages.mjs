// Writes docs/strategies/ID.md and their list, docs/strategies.md, from the strategies, on built code.
import { mkdirSync, writeFileSync } from 'node:fs';
import { strategies, strategyIndex, strategyPage } from '@perwatt/strategies';

const folder = new URL('../docs/strategies/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const strategy of strategies())
  writeFileSync(new URL(`${strategy.id}.md`, folder), strategyPage(strategy));
writeFileSync(new URL('../docs/strategies.md', import.meta.url), strategyIndex(strategies()));
