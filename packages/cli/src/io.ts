import type { Readable } from 'node:stream';

/** The world a command sees. `main.ts` passes the real one; tests pass their own. */
export interface Io {
  /** One line on standard output. */
  readonly print: (line: string) => void;
  /** One line on standard error: progress, warnings. */
  readonly printError: (line: string) => void;
  /** Raw text on standard error, for redraws of a live display. */
  readonly draw: (text: string) => void;
  readonly stdin: Readable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Width of the terminal behind standard error, as it is now; null when it is none. */
  readonly columns: number | null;
  /** Wall time, for names and manifests only. */
  readonly wallTime: () => Date;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** Exit code of the process once the command returns; 0 unless set. */
  readonly setExitCode: (code: number) => void;
}
