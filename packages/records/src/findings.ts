/** What is wrong with a run, or worth knowing. */
export interface Finding {
  /** `problem`: something is missing or not as it was written. `note`: what a crash leaves behind, and is accounted for. */
  readonly level: 'problem' | 'note';
  readonly code:
    | 'cell_missing'
    | 'conservation'
    | 'duplicate_query'
    | 'energy_bounds'
    | 'file_foreign'
    | 'file_missing'
    | 'file_unlisted'
    | 'json_invalid'
    | 'rows_foreign'
    | 'schema'
    | 'segment_damaged'
    | 'segment_torn'
    | 'window';
  /** File or folder within the run. */
  readonly where: string;
  readonly text: string;
}

/** What a check of a part of the run found. */
export interface Checked {
  readonly segments: number;
  readonly rows: number;
  readonly batches: number;
  readonly bytes: number;
  readonly findings: readonly Finding[];
}

/** A check that looked at no segment. */
export const found = (...findings: readonly Finding[]): Checked => ({
  segments: 0,
  rows: 0,
  batches: 0,
  bytes: 0,
  findings,
});

/** Several checks as one. */
export const together = (checks: readonly Checked[]): Checked => ({
  segments: checks.reduce((n, c) => n + c.segments, 0),
  rows: checks.reduce((n, c) => n + c.rows, 0),
  batches: checks.reduce((n, c) => n + c.batches, 0),
  bytes: checks.reduce((n, c) => n + c.bytes, 0),
  findings: checks.flatMap((c) => c.findings),
});

export const problem = (code: Finding['code'], where: string, text: string): Finding => ({
  level: 'problem',
  code,
  where,
  text,
});
