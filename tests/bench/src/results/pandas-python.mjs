import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const requirements = ['pandas==2.3.3', 'pyarrow==26.0.1', 'numpy==2.3.5'];

/** A Python with pandas and pyarrow, made once in the user's cache folder; `python` is null where it can't be made. */
export function pandasPython() {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const key = createHash('sha256').update(requirements.join('\n')).digest('hex').slice(0, 16);
  const folder = join(cache, 'perwatt', `bench-python-${key}`);
  const python = join(folder, 'bin', 'python');
  const marker = join(folder, 'ready');
  if (existsSync(marker)) return { python, missing: null };
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(cache, 'perwatt'), { recursive: true });
    const options = { stdio: 'pipe', timeout: 300_000 };
    execFileSync('python3', ['-m', 'venv', folder], options);
    execFileSync(
      python,
      ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements],
      options,
    );
    writeFileSync(marker, '');
    return { python, missing: null };
  } catch (error) {
    const last = String(error.stderr || error)
      .trim()
      .split('\n')
      .at(-1);
    return { python: null, missing: `no Python with ${requirements.join(', ')}: ${last}` };
  }
}
