import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as process from 'node:process';

const requirements = ['pyarrow==26.0.1', 'duckdb==2.0.1', 'datasets==5.2.0'];
const MINUTES = 60_000;

/** A Python that has other people's readers of our files, made once and kept; or why there is none. */
export function pythonClients(): { readonly python: string } | { readonly missing: string } {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const key = createHash('sha256').update(requirements.join('\n')).digest('hex').slice(0, 16);
  const folder = join(cache, 'perwatt', `test-python-${key}`);
  const marker = join(folder, 'ready');
  const python = join(folder, 'bin', 'python');
  if (existsSync(marker)) return { python };
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(cache, 'perwatt'), { recursive: true });
    const run = (command: string, args: readonly string[]) =>
      execFileSync(command, args, { stdio: 'pipe', timeout: 5 * MINUTES });
    run('python3', ['-m', 'venv', folder]);
    run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...requirements]);
    mkdirSync(`${marker}.tmp`);
    renameSync(`${marker}.tmp`, marker);
    return { python };
  } catch (error) {
    const last = String(error).trim().split('\n').at(-1);
    return { missing: `no Python with ${requirements.join(', ')}: ${last}` };
  }
}
