// Makes the run that golden tests read, reports/golden/run.tgz, anew: a bundle of a simulated run.
// The files it is held to are then written by `npx vitest run reports/src/publish/golden.test.ts -u`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'perwatt-golden-'));
const perwatt = (...args) =>
  execFileSync(process.execPath, [join(root, 'packages/cli/bin/perwatt.js'), ...args], { stdio: 'inherit' });
try {
  perwatt('run', join(root, 'reports/golden/golden.yaml'), '--out', folder, '--quiet', '--no-report');
  const [run = ''] = readdirSync(folder);
  const out = join(root, 'reports/golden/run.tgz');
  rmSync(out, { force: true });
  perwatt('bundle', join(folder, run), '--out', out, '--no-texts');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
