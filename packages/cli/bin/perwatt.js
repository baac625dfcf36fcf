#!/usr/bin/env node
import { existsSync } from 'node:fs';

const main = new URL('../dist/main.js', import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write(
    'error: perwatt is not built\nhint: Run `npm run build` in the Perwatt folder first.\n',
  );
  process.exitCode = 70;
}
