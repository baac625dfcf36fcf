import { spawn } from 'node:child_process';

/** What a command did. `code` is null when it couldn't be started or was stopped. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunCommand = (
  command: readonly [string, ...string[]],
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly signal?: AbortSignal | undefined;
    /** Longest time to wait, ms. */
    readonly timeout_ms?: number;
  },
) => Promise<CommandResult>;

/** Runs a command to its end, without a shell. Never rejects. */
export const runCommand: RunCommand = ([file, ...args], { env, signal, timeout_ms }) =>
  new Promise((resolve) => {
    const child = spawn(file, args, {
      env: { ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      ...(timeout_ms === undefined ? {} : { timeout: timeout_ms }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', (error) => resolve({ code: null, stdout, stderr: stderr || error.message }));
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
