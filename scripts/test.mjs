// `npm test`: installs and builds what the tests need, then runs cargo test and vitest. Last line: N passed, M failed.
import { copyFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  build,
  checkPrerequisites,
  fetchModels,
  giveUp,
  install,
  root,
  run,
  stage,
  tail,
} from './stages.mjs';

const native = !process.argv.includes('--no-native');

try {
  await stage('check what is needed', () => checkPrerequisites({ native }));
  await stage('install packages', install);
  await stage('build', () => build({ native }));
  await stage('fetch models for tests', () =>
    fetchModels(['smollm2-135m']).catch(
      (error) => `none: ${error.message}; tests on real models are skipped`,
    ),
  );
} catch (error) {
  giveUp(error);
}

const counts = { passed: 0, failed: 0, skipped: 0 };

async function cargoTests() {
  if (!native) return 'skipped: native parts are left out';
  const { code, output } = await run('cargo', ['test', '--workspace', '--quiet']);
  for (const [, passed, failed, ignored] of output.matchAll(/(\d+) passed; (\d+) failed; (\d+) ignored/g)) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
    counts.skipped += Number(ignored);
  }
  if (code === 0) return '';
  if (counts.failed === 0) counts.failed = 1;
  console.error(tail(output, 60));
  return 'FAILED';
}

/** The addon of kernels, built as quickly as can be: right, and too slow to measure with. Tests find it by the variable. */
async function kernelsForTests() {
  if (!native) return 'skipped: native parts are left out';
  const { code, output } = await run('cargo', ['build', '--workspace', '--quiet']);
  if (code !== 0) {
    counts.failed += 1;
    console.error(tail(output, 60));
    return 'FAILED';
  }
  const folder = join(root, 'target', 'debug');
  const names = ['libkernels_napi.so', 'libkernels_napi.dylib', 'kernels_napi.dll'];
  const built = names.map((name) => join(folder, name)).find((file) => existsSync(file));
  if (built === undefined) return `none in ${folder}; tests of the addon are skipped`;
  const addon = join(folder, 'perwatt-kernels.node');
  copyFileSync(built, addon);
  process.env.PERWATT_KERNELS_ADDON = addon;
  return '';
}

async function vitest() {
  const file = join(mkdtempSync(join(tmpdir(), 'perwatt-test-')), 'results.json');
  const bin = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const { code } = await run(process.execPath, [bin, 'run', ...reporters], { show: true });
  if (!existsSync(file)) {
    counts.failed += 1;
    return 'FAILED: no results';
  }
  const results = JSON.parse(readFileSync(file, 'utf8'));
  counts.passed += results.numPassedTests;
  counts.failed += results.numFailedTests;
  counts.skipped += results.numPendingTests + (results.numTodoTests ?? 0);
  if (code !== 0 && results.numFailedTests === 0) counts.failed += 1;
  return code === 0 ? '' : 'FAILED';
}

await stage('cargo test', cargoTests);
await stage('build kernels for tests', kernelsForTests);
await stage('vitest', vitest);
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1);
