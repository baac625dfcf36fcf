import type { CellFlag, PhysicsFlag } from '@perwatt/metrics';
import type { CellFile, CellVerdict, VerdictReason } from '@perwatt/records';
import type { RecordFlag } from './record-flags.js';

type Flag = CellFlag | PhysicsFlag | RecordFlag;

const fixes: Readonly<Record<Flag['code'], string>> = {
  beyond_physics:
    'Check the model, the quantisation, the device and the meter that the cell names: one of them is not what it says.',
  failed_queries: 'Look at the error codes of the calls, mend the cause and run the cell again.',
  unscored: 'Look at the queries with the verdict `unscored`; another grader may judge them.',
  baseline_drift: 'Let the host cool down and stay idle, then run the cell again.',
  stale_counter: 'Read the device by another source, or reload its driver, and run the cell again.',
  duplicate_queries:
    'See which with `perwatt verify`; leave the segments with the later rows out of the folder.',
  unlisted_segments:
    'See which with `perwatt verify`; a file that is none of the run does not belong in its folder.',
  no_queries: 'Resume the run with `perwatt run --resume`.',
};

const rank = { valid: 0, flagged: 1, invalid: 2 } as const;
const worse = (a: CellVerdict['state'], b: CellVerdict['state']) => (rank[a] >= rank[b] ? a : b);

function ownReasons(cell: CellFile): { state: CellVerdict['state']; reasons: readonly VerdictReason[] } {
  if (cell.status === 'failed') {
    const text = cell.failure ?? 'the cell failed';
    return { state: 'invalid', reasons: [{ code: 'failed', text, fix: null }] };
  }
  if (cell.status !== 'done') {
    const fix = 'Resume the run with `perwatt run --resume`.';
    return { state: 'invalid', reasons: [{ code: 'unfinished', text: 'the cell is not finished', fix }] };
  }
  return { state: 'valid', reasons: [] };
}

/** The verdict of a cell: what the harness found, what the numbers say, and whether it was finished at all. */
export function verdictOf(cell: CellFile, { flags }: { readonly flags: readonly Flag[] }): CellVerdict {
  const own = ownReasons(cell);
  const recorded = cell.verdict ?? { state: 'valid', reasons: [] };
  const found = flags.map(({ code, text }) => ({ code, text, fix: fixes[code] }));
  const reasons = new Map<string, VerdictReason>();
  for (const reason of [...own.reasons, ...recorded.reasons, ...found]) {
    if (!reasons.has(reason.code)) reasons.set(reason.code, reason);
  }
  const worst = flags.reduce<CellVerdict['state']>(
    (state, { severity }) => worse(state, severity),
    worse(own.state, recorded.state),
  );
  return { state: worst, reasons: [...reasons.values()] };
}
