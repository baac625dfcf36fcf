import type { CatalogueModel, Lock } from './catalogue.js';
import type { RunCommand } from './run-command.js';

/** One step of getting or checking a weight file. */
export interface WeightsProgress {
  readonly model: string;
  readonly step: 'download' | 'unpack' | 'verify';
  /** What the step works on: a file, a wheel, a repository. */
  readonly subject: string;
  readonly done_bytes: number;
  /** Null where nobody says. */
  readonly total_bytes: number | null;
}

/** What the weights store touches. Only `env` is needed; the rest has the real thing as its default. */
export interface WeightsWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that relative paths start from. Default: the process's own. */
  readonly cwd?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: WeightsProgress) => void;
  /** Home folder. Default: the user's. */
  readonly home?: string;
  /** Default: the host's. */
  readonly platform?: string;
  readonly fetch?: typeof fetch;
  readonly run?: RunCommand;
  readonly catalogue?: readonly CatalogueModel[];
  readonly lock?: Lock;
}
