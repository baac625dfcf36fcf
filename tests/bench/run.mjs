// Runs every benchmark of tests/bench/src, or those named on the command line. Each is a module that exports
// `run(): Promise<{ passed: boolean, lines: string[] }>`, on built code.
import { readdirSync } from 'node:fs';

const folder = new URL('./src/', import.meta.url);
const wanted = process.argv.slice(2);
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.bench.mjs'))
  .map((file) => file.replace('.bench.mjs', ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name));

let failed = 0;
for (const name of names) {
  console.log(`# ${name}`);
  const { run } = await import(new URL(`${name}.bench.mjs`, folder).href);
  const { passed, lines } = await run();
  for (const line of lines) console.log(line);
  console.log(passed ? 'passed' : 'FAILED');
  if (!passed) failed += 1;
}
console.log(`${names.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
