// Runs the benchmarks of tests/bench/src. Each is a module that exports
// `run(options): Promise<{ passed: boolean, lines: string[], data?: object }>`, on built code.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { parseArgs } from 'node:util';

const help = `npm run bench -- [options] [names]

Runs the named benchmarks, or all of them, on built code.

  --list       print the names
  --long       take the long form of those that have one: ten minutes of sampling
  --json FILE  write the figures there as well
  --help       show this
`;

const folder = new URL('./src/', import.meta.url);
const root = new URL('../../', import.meta.url);
const known = readdirSync(folder)
  .filter((file) => file.endsWith('.bench.mjs'))
  .map((file) => file.replace('.bench.mjs', ''));

/** Prints one line and ends with exit code 2. */
function refuse(line) {
  console.error(line);
  process.exit(2);
}

function parsed() {
  const options = {
    list: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
    json: { type: 'string' },
  };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return refuse(`${error.message}\n\n${help}`);
  }
}

/** Of the packages that benchmarks import, those without built code. */
function unbuilt() {
  const { dependencies } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'));
  return Object.keys(dependencies)
    .filter((name) => name.startsWith('@perwatt/'))
    .filter((name) => !existsSync(new URL(`node_modules/${name}/dist/index.js`, root)));
}

const { values, positionals } = parsed();
if (values.help || values.list) {
  console.log(values.help ? help.trimEnd() : known.join('\n'));
  process.exit(0);
}
const stranger = positionals.find((name) => !known.includes(name));
if (stranger !== undefined) refuse(`no benchmark is called "${stranger}"; there are ${known.join(', ')}`);
const missing = unbuilt();
if (missing.length > 0) refuse(`not built: ${missing.join(', ')}; run \`npm install && npm run build\``);

const figures = {};
let failed = 0;
const names = known.filter((name) => positionals.length === 0 || positionals.includes(name));
for (const name of names) {
  console.log(`# ${name}`);
  const { run } = await import(new URL(`${name}.bench.mjs`, folder).href);
  const { passed, lines, data } = await run({ long: values.long });
  for (const line of lines) console.log(line);
  console.log(passed ? 'passed' : 'FAILED');
  if (!passed) failed += 1;
  figures[name] = { passed, lines, data };
}
console.log(`${names.length - failed} passed, ${failed} failed`);
if (values.json !== undefined) {
  const machine = {
    cpu: cpus()[0]?.model ?? null,
    threads: cpus().length,
    memory_bytes: totalmem(),
    system: `${process.platform} ${release()}`,
    node: process.version,
  };
  writeFileSync(
    values.json,
    `${JSON.stringify({ at: new Date().toISOString(), machine, figures }, null, 1)}\n`,
  );
}
process.exitCode = failed === 0 ? 0 : 1;
