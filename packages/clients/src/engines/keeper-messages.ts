/** What a keeper is told. It also ends its engine when nobody can tell it anything any more. */
export type ToKeeper =
  | {
      readonly kind: 'start';
      readonly argv: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      /** File that both outputs are appended to. */
      readonly log: string;
      /** Time between the request to end and the kill, ms. */
      readonly stop_ms: number;
      /** Executed once all processes are gone, for what may live elsewhere. */
      readonly cleanup: readonly string[] | null;
      /** Whether the command ends by itself and leaves its server running elsewhere. */
      readonly leaves: boolean;
    }
  | { readonly kind: 'members' }
  | { readonly kind: 'stop' };

/** What a keeper says. */
export type FromKeeper =
  | { readonly kind: 'started'; readonly pid: number }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'members'; readonly pids: readonly number[] }
  | { readonly kind: 'stopped'; readonly left: readonly number[] };
