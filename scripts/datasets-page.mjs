// Writes docs/datasets.md from the cards of the data sets, on built code.
import { writeFileSync } from 'node:fs';
import { datasetsPage } from '@perwatt/datasets';

writeFileSync(new URL('../docs/datasets.md', import.meta.url), datasetsPage());
