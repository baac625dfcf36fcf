import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CodeLimits, Interpreter, SandboxPlace } from './sandbox.js';
import { driver, sandboxScript } from './sandbox-script.js';

/** How a program ended. `broken`: the sandbox itself did not work, which says nothing of the program. */
export type CodeOutcome =
  | { readonly status: 'passed' }
  | { readonly status: 'failed' | 'timed_out' | 'broken'; readonly reason: string };

interface RunOptions {
  readonly place: SandboxPlace;
  readonly python: Interpreter;
  readonly limits: CodeLimits;
  readonly signal?: AbortSignal;
}

/** Longest program, UTF-16 code units. */
const PROGRAM_CHARS = 1_000_000;
const OUTPUT_CHARS = 64 * 1024;

/** Users that programs run as where this process is root: nobody else's, so that limits by user count nobody else's processes. */
let nextUser = 0;
const FIRST_USER = 1_900_000_000;

/** Runs one program in namespaces of its own. */
export async function runSandboxed(program: string, options: RunOptions): Promise<CodeOutcome> {
  const { place, limits, signal } = options;
  signal?.throwIfAborted();
  if (program.length > PROGRAM_CHARS)
    return { status: 'failed', reason: `the program is longer than ${PROGRAM_CHARS} characters` };
  const folder = await mkdtemp(join(place.tmp, 'perwatt-sandbox-'));
  const token = randomBytes(16).toString('hex');
  try {
    const child = start(folder, token, options);
    child.stdin?.on('error', () => {});
    child.stdin?.end(program);
    const ended = await untilEnd(child, { wall_ms: limits.wall_s * 1000, signal });
    signal?.throwIfAborted();
    return outcomeOf(ended, token, limits);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function start(folder: string, token: string, { place, python, limits }: RunOptions): ChildProcess {
  nextUser = (nextUser + 1) % 10_000;
  const id = FIRST_USER + nextUser;
  const user = place.root ? `--reuid=${id} --regid=${id} --clear-groups` : '';
  const spaces = ['--mount', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child=SIGKILL'];
  const own = place.root ? spaces : ['--user', '--map-root-user', ...spaces];
  const bounds = [
    `--cpu=${Math.ceil(limits.cpu_s)}:${Math.ceil(limits.cpu_s) + 1}`,
    `--as=${limits.memory_bytes}`,
    `--nproc=${limits.processes}`,
    `--fsize=${limits.files_bytes}`,
    '--nofile=64',
    '--core=0',
  ].join(' ');
  const args = [folder, python.path, python.prefix, user, bounds, token, driver, `${limits.files_bytes}`];
  return spawn('unshare', [...own, '--', '/bin/sh', '-c', sandboxScript, 'sandbox', ...args], {
    env: { PATH: place.path, LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: '/',
  });
}

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly overran: boolean;
  readonly code: number | null;
}

function untilEnd(
  child: ChildProcess,
  { wall_ms, signal }: { readonly wall_ms: number; readonly signal: AbortSignal | undefined },
): Promise<Ended> {
  return new Promise((resolve) => {
    const texts = { stdout: '', stderr: '' };
    let overran = false;
    const kill = () => child.kill('SIGKILL');
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
        texts[name] += chunk.slice(0, OUTPUT_CHARS);
        if (texts[name].length > OUTPUT_CHARS) kill();
      });
    const timer = setTimeout(() => {
      overran = true;
      kill();
    }, wall_ms);
    signal?.addEventListener('abort', kill, { once: true });
    if (signal?.aborted) kill();
    const finish = (code: number | null) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      resolve({ ...texts, overran, code });
    };
    child.once('error', (error) => {
      texts.stderr += error.message;
      finish(null);
    });
    child.once('close', finish);
  });
}

/** Exit codes of a shell whose program was ended by SIGXCPU, or by SIGKILL at the hard limit of CPU time. */
const CPU_CODES: ReadonlySet<number> = new Set([128 + 24, 128 + 9]);

function outcomeOf(ended: Ended, token: string, limits: CodeLimits): CodeOutcome {
  const lines = ended.stdout.split('\n');
  const said = lines.find((line) => line.startsWith(`${token} `))?.slice(token.length + 1);
  if (ended.overran) return { status: 'timed_out', reason: `more than ${limits.wall_s} s` };
  if (!lines.includes('ready'))
    return { status: 'broken', reason: ended.stderr.trim().slice(0, 300) || `exit code ${ended.code}` };
  if (said === 'passed') return { status: 'passed' };
  if (said !== undefined) return { status: 'failed', reason: said.replace(/^failed /, '') };
  const code = Number(lines.find((line) => line.startsWith('ended '))?.slice('ended '.length) ?? Number.NaN);
  if (CPU_CODES.has(code)) return { status: 'timed_out', reason: `more than ${limits.cpu_s} s of CPU time` };
  if (code === 126 || code === 127) return { status: 'broken', reason: ended.stderr.trim().slice(0, 300) };
  return { status: 'failed', reason: 'the program ended before its tests did' };
}
