// Builds the addon with cargo, unless PERWATT_NO_NATIVE=1 leaves it out. `npm run build` runs the compiler after it.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** Prints one line and ends with exit code 1. */
function fail(line) {
  console.error(line);
  process.exit(1);
}

if (process.env.PERWATT_NO_NATIVE === '1') {
  console.log('native-power: left out (PERWATT_NO_NATIVE=1); power will not be measured');
  process.exit(0);
}

if (spawnSync('cargo', ['--version'], { stdio: 'ignore' }).status !== 0) {
  fail(
    'native-power: no cargo found; install a Rust toolchain (https://rustup.rs), or leave power out with `npm start -- --no-native` or PERWATT_NO_NATIVE=1',
  );
}

const napi = join(dirname(fileURLToPath(import.meta.resolve('@napi-rs/cli'))), 'cli.js');
const built = spawnSync(
  process.execPath,
  [
    napi,
    'build',
    '--release',
    '--no-const-enum',
    '--cwd',
    here,
    '--manifest-path',
    'crates/power-node/Cargo.toml',
    '--package-json-path',
    'package.json',
    '--output-dir',
    '.',
    '--dts',
    'binding.d.cts',
    '--',
    '--locked',
  ],
  { stdio: 'inherit' },
);
if (built.status !== 0) fail('native-power: the addon could not be built; the compiler says why above');
