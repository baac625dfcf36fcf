import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

export const repository = fileURLToPath(new URL('../../../', import.meta.url));
const bin = join(repository, 'packages/cli/bin/perwatt.js');

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
  readonly stderr: () => string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** Starts the built command as a process of its own. */
export function startCli(args: readonly string[], options: CliOptions = {}): Running {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: options.cwd ?? repository,
    env: { ...process.env, NO_COLOR: '1', ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (bytes) => {
    stdout += bytes;
  });
  child.stderr.on('data', (bytes) => {
    stderr += bytes;
  });
  child.stdin.end(options.input ?? '');
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return { process: child, finished, stderr: () => stderr };
}

export const runCli = (args: readonly string[], options: CliOptions = {}): Promise<Finished> =>
  startCli(args, options).finished;

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-e2e-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files by name and returns the folder. */
export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** The one run folder below `root`. */
export function onlyRun(root: string): string {
  const names = readdirSync(root);
  if (names.length !== 1) throw new Error(`expected one run in ${root}, found ${names.join(', ') || 'none'}`);
  return join(root, names[0] ?? '');
}
