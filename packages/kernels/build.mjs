// Builds the addon of the kernel runners with cargo: minutes the first time. Never a part of `npm run build` or `npm start`.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** Prints one line and ends with exit code 1. */
function fail(line) {
  console.error(line);
  process.exit(1);
}

if (spawnSync('cargo', ['--version'], { stdio: 'ignore' }).status !== 0)
  fail('kernels: no cargo found; install a Rust toolchain (https://rustup.rs) and try again');

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
    'crates/kernels-napi/Cargo.toml',
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
if (built.status !== 0) fail('kernels: the addon could not be built; the compiler says why above');
