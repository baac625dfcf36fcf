import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every page of a run's report, one behind the other. */
export const reportText = (run: string): string =>
  readdirSync(join(run, 'report'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => readFileSync(join(run, 'report', name), 'utf8'))
    .join('\n');
