// Stages of `npm start` and `npm test`: each prints one line with its time, and a failure is one clear error.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** A failure that the user can mend: what is the matter, and what to do. */
export class StageError extends Error {
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}

/** Runs `action`, then prints what was done and how long it took. The action may return a remark. */
export async function stage(name, action) {
  const start = process.hrtime.bigint();
  const seconds = () => `${(Number(process.hrtime.bigint() - start) / 1e9).toFixed(1)} s`.padStart(8);
  try {
    const remark = await action();
    console.error(`✓ ${name.padEnd(34)} ${seconds()}${remark ? `  ${remark}` : ''}`);
    return remark;
  } catch (error) {
    console.error(`✗ ${name.padEnd(34)} ${seconds()}`);
    throw error;
  }
}

/** Ends the process after a failure: one message, one hint. */
export function giveUp(error) {
  if (error instanceof StageError) console.error(`error: ${error.message}\nhint: ${error.hint}`);
  else console.error(error);
  process.exit(1);
}

/** Runs a command; its output is shown only when it fails, unless `show` passes it through. */
export function run(command, args, { env = {}, show = false, onLine } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1', ...env },
      stdio: show ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const take = (bytes) => {
      output += bytes;
      onLine?.(String(bytes));
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.on('error', (error) => resolve({ code: 127, output: `${output}\n${error.message}` }));
    child.on('close', (code, signal) => resolve({ code: code ?? 128, signal, output }));
  });
}

const works = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Node's version, and a Rust toolchain unless native parts are left out. */
export function checkPrerequisites({ native }) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new StageError(`Node ${process.versions.node} is too old`, 'Install Node 20.19 or newer.');
  }
  if (native && !works('cargo', ['--version'])) {
    throw new StageError(
      'no Rust toolchain was found (`cargo --version` failed)',
      'Install Rust, or leave the power sampler out with `-- --no-native` (nothing is metered then).',
    );
  }
  return `Node ${process.versions.node}${native ? ', cargo' : ', native parts left out'}`;
}

/** `npm ci`, unless what the lock file names is installed already. */
export async function install() {
  const lock = readFileSync(join(root, 'package-lock.json'));
  const digest = createHash('sha256').update(lock).update(process.versions.node).digest('hex');
  const marker = join(root, 'node_modules', '.perwatt-installed');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === digest) return 'already installed';
  const { code, output } = await run(npm, ['ci', '--no-fund', '--no-audit'], {
    env: { NODE_LLAMA_CPP_SKIP_DOWNLOAD: 'true' },
  });
  if (code !== 0) {
    throw new StageError(
      `\`npm ci\` failed (exit code ${code})\n${tail(output)}`,
      'Check the network and the npm registry that is configured, then try again.',
    );
  }
  writeFileSync(marker, digest);
  return '';
}

/** Builds every package; turbo skips what is up to date. */
export async function build({ native }) {
  const env = native ? {} : { PERWATT_NO_NATIVE: '1' };
  const { code, output } = await run(npm, ['run', 'build', '--', '--output-logs=errors-only'], { env });
  if (code !== 0) {
    throw new StageError(
      `the build failed (exit code ${code})\n${tail(output)}`,
      native
        ? 'If the Rust part is what failed, `-- --no-native` leaves it out.'
        : 'Mend the error above and try again.',
    );
  }
  return /FULL TURBO/.test(output) ? 'up to date' : '';
}

export const perwatt = join(root, 'packages', 'cli', 'bin', 'perwatt.js');

/** Fetches the weights of the named models. Those that can't be had are named, with the reason; none is an error. */
export async function fetchModels(ids) {
  const missing = [];
  for (const id of ids) {
    const { code, output } = await run(process.execPath, [perwatt, 'models', 'pull', id], {
      onLine: (text) => process.stderr.isTTY && process.stderr.write(text.includes('\r') ? text : ''),
    });
    if (code !== 0) missing.push({ id, why: tail(output, 6) });
  }
  for (const { id, why } of missing)
    console.error(`  left out: model ${id}\n${why.replaceAll(/^/gm, '    ')}`);
  if (missing.length === ids.length) {
    throw new StageError(
      'no model could be fetched',
      'Install pip for Python 3, or make the model hub reachable, or run `perwatt run` with a matrix that names a local GGUF file.',
    );
  }
  return `${ids.length - missing.length} of ${ids.length} at hand`;
}

export const tail = (text, lines = 25) => text.trimEnd().split('\n').slice(-lines).join('\n');
