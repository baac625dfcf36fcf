// Python, as far as the GPU check needs it: PyTorch's rates, and where its wheels keep NVIDIA's libraries.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const python = process.env.PERWATT_PYTHON ?? 'python3';

/** The last line of what a program said, or how it ended. */
const words = ({ error, stderr, status, signal }) =>
  error?.message ?? stderr?.trim().split('\n').at(-1) ?? `it ended with ${signal ?? status}`;

/** `{ figures }`, or `{ reason }` where PyTorch can't be asked. */
export function torchRates({ timeout_ms }) {
  const program = fileURLToPath(new URL('rates.py', import.meta.url));
  const done = spawnSync(python, [program], { encoding: 'utf8', timeout: timeout_ms });
  if (done.status !== 0) return { reason: `${python}: ${words(done)}` };
  return { figures: JSON.parse(done.stdout.trim().split('\n').at(-1)) };
}

/** Folders of NVIDIA's wheels in that Python's environment. */
export function wheelFolders() {
  const ask = 'import nvidia, os; print(os.pathsep.join(nvidia.__path__))';
  const done = spawnSync(python, ['-c', ask], { encoding: 'utf8', timeout: 30_000 });
  return done.status === 0 ? done.stdout.trim() : '';
}
