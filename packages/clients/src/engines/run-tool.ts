import { spawn } from 'node:child_process';

/** What a short command said. `code` is null where it could not be started or took too long. */
export interface ToolResult {
  readonly code: number | null;
  /** Both its outputs, cut at 64 KiB. */
  readonly output: string;
}

export interface ToolOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Default 30 s. */
  readonly timeout_ms?: number;
  readonly signal?: AbortSignal | undefined;
}

const MOST = 65_536;

/** Runs a command to its end. Never throws. */
export function runTool(
  [program = '', ...args]: readonly string[],
  { env, timeout_ms = 30_000, signal }: ToolOptions,
): Promise<ToolResult> {
  return new Promise((resolve) => {
    let output = '';
    const take = (bytes: Buffer) => {
      if (output.length < MOST) output += bytes.toString('utf8');
    };
    const child = spawn(program, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeout_ms,
      killSignal: 'SIGKILL',
      signal,
    });
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (error) => resolve({ code: null, output: output || error.message }));
    child.on('exit', (code) => setImmediate(() => resolve({ code, output })));
  });
}
