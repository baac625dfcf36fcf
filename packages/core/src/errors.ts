/** Every way Perwatt fails on purpose, with what the user can do about it: one imperative sentence. */
export const hints = {
  ACCELERATOR_MISMATCH: 'Run it on the device that the matrix expects, or mend `expect` of the accelerator.',
  BUILD_MISSING: 'Run `npm run build` in the Perwatt folder first.',
  CHECKPOINT_INVALID: 'Name a checkpoint that this version of the recipe wrote, or train it anew.',
  CLIENT_UNREACHABLE: 'Check that the server is running and that the endpoint address is right.',
  DATASET_CHANGED: 'Start a new run; results over different items must not be mixed.',
  DATASET_ROW_INVALID: 'Mend the named line, or change the field mapping of the data set.',
  DATASET_UNAVAILABLE:
    'Give the path of a local file; `perwatt datasets show` says where data sets come from.',
  DATASET_UNKNOWN: 'Run `perwatt datasets list` to see the names that are known.',
  DISK_FULL:
    'Free some space or choose another folder with `--out`; a run goes on with `perwatt run --resume`.',
  ENGINE_FAILED: 'Run `perwatt doctor` to see whether the embedded engine can run here.',
  ENGINE_MISSING: 'Run `npm install` without `--omit=optional`, or use an HTTP endpoint instead.',
  ENDPOINT_UNKNOWN: 'Name one of the models or endpoints of the matrix file.',
  FILE_UNREADABLE: 'Check the path and the permissions of the file.',
  GRADER_UNKNOWN: 'Name one of the graders that `perwatt grade --help` lists.',
  INPUT_INVALID: 'Mend the named value and try again.',
  KERNELS_MISSING:
    'Install a Rust toolchain (https://rustup.rs), then run `npm run build:kernels`; nothing else needs it.',
  MATRIX_INVALID: 'Mend the named lines; `perwatt run --schema` prints what is accepted.',
  MATRIX_CHANGED: 'Start a new run for the changed matrix, or resume with the matrix the run was made of.',
  MODEL_CHECKSUM: 'Compare the file that was kept aside with its source, or pull the model again.',
  MODEL_UNAVAILABLE:
    'Pass a local weight file, or make one of the named locations reachable and run `perwatt models pull`.',
  MODEL_UNKNOWN: 'Run `perwatt models list` to see the models that are known, or give a path to a GGUF file.',
  POWER_CAP_FAILED: 'Try the commands of `power_cap` by hand; setting a limit may need privileges.',
  POWER_IO: 'Run `perwatt doctor` to see which counters can be read.',
  POWER_MALFORMED: 'Please report this with the output of `perwatt doctor --json`.',
  POWER_NO_SOURCE:
    'Run `perwatt doctor` to see what can be measured, or leave power out with `--power none`.',
  POWER_PERMISSION: 'Run `perwatt doctor` for the one-time command that grants read access.',
  RECIPE_UNKNOWN: 'Run `perwatt train list` to see the recipes that are known.',
  REPLAY_DIFFERS: 'Use the version, parameters and seed that the query was recorded with.',
  RUN_NOT_FOUND: 'Give the folder of a run; `runs/` holds them unless `--out` said otherwise.',
  RUN_IN_USE: 'Wait for the other process to end, or stop it, before you touch this run.',
  RUN_PUBLISHED:
    'Use `perwatt report`, `results`, `compare`, `query` or `import show` for it; it has no queries or samples of ours.',
  RUN_TRAINING:
    'Use `perwatt report`, `publish`, `bundle`, `query`, `train show`, `train compare` or `train --resume` for it; it has no cells.',
  RUN_SCHEMA_NEWER: 'Read this run with the newer version of Perwatt that made it.',
  RUN_INVALID: 'Restore the named file from a copy, or start a new run.',
  SANDBOX_UNAVAILABLE:
    'Use Linux with namespaces, util-linux and Python 3, or leave code unexecuted: such answers are then unscored.',
  SERVER_DIED: 'Read the end of its log above; `engines` of the matrix says how the server is started.',
  SERVER_FAILED: 'Read the end of its log above; `engines` of the matrix says how the server is started.',
  SQL_ENGINE_MISSING: 'Run `npm install` without `--omit=optional` on a platform that DuckDB supports.',
  SQL_INVALID:
    'Mend the statement; `perwatt query --help` names the views, and `DESCRIBE queries` their columns.',
  STRATEGY_UNKNOWN: 'Name one of the strategies that `perwatt run --help` lists.',
  TRACE_INVALID: 'Mend the named line, or leave such rows out with `--skip-bad`; they are counted.',
  USAGE: 'Run the command with `--help` to see how it is used.',
} as const;

/** Every code there is. */
export type ErrorCode = keyof typeof hints;

/** The only error class Perwatt throws on purpose. Anything else that reaches the command line is a bug and keeps its stack. */
export class PerwattError extends Error {
  override readonly name = 'PerwattError';
  readonly code: ErrorCode;
  readonly hint: string;

  /** @param message what happened and to what: lower case, no full stop, with the offending value */
  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? hints[code];
  }
}

/** Whether `code` is one of ours; native errors carry theirs as a plain string. */
export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && code in hints;

/** The system's error code (`ENOSPC`, `ENOENT` …) of an unknown error, or null. */
export const systemCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** One line for a message: what an unknown thrown value says of itself. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
