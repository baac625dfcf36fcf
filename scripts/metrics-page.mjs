// Writes docs/metrics.md from the metric definitions, on built code.
import { writeFileSync } from 'node:fs';
import { metricsPage } from '@perwatt/metrics';

writeFileSync(new URL('../docs/metrics.md', import.meta.url), metricsPage());
