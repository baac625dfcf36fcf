import type { CellResult, ProgressSnapshot } from '@perwatt/harness';
import type { Io } from './io.js';

/** Watts as the display shows them: the sum over the domains of the total. */
export interface PowerNow {
  readonly power_w: number;
  readonly estimated: boolean;
}

/** Seconds as a reader likes them: `42 s`, `3 min 20 s`, `2 h 5 min`. */
export function spanText(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

/** Columns below which the bar gives its place to the numbers. */
const ROOM_FOR_BAR = 60;

/** The three lines of the live display, uncut. Unknown figures are left out, never shown as 0. */
export function displayLines(
  snapshot: ProgressSnapshot,
  power: PowerNow | null,
  width = Number.POSITIVE_INFINITY,
): [string, string, string] {
  const { cells_done, cells, queries_done, queries, eta_s, tokens_per_s, point, phase } = snapshot;
  const share = queries === 0 ? 0 : queries_done / queries;
  const bar = width < ROOM_FOR_BAR ? '' : `[${'#'.repeat(Math.round(share * 24)).padEnd(24, '·')}] `;
  const eta = eta_s === null ? '' : `  about ${spanText(eta_s)} left`;
  const head = `${bar}cell ${Math.min(cells_done + 1, cells)}/${cells}  queries ${queries_done}/${queries}${eta}`;
  const where = point === null ? phase : `${pointText(point)}: ${phase}`;
  const within = snapshot.cell_queries > 0 ? ` ${snapshot.cell_queries_done}/${snapshot.cell_queries}` : '';
  const rates = [
    tokens_per_s === null ? null : `${tokens_per_s.toFixed(1)} tokens/s`,
    power === null
      ? null
      : `${power.estimated ? '~' : ''}${power.power_w.toFixed(1)} W${power.estimated ? ' (estimated)' : ''}`,
    accuracyText(snapshot.results),
  ];
  return [head, `  ${where}${within}`, `  ${rates.filter((r) => r !== null).join('   ')}`];
}

/** A cell's name, without its accelerator and load where these are the ones that a matrix need not name. */
export const pointText = (point: CellResult['point']) =>
  [
    point.model,
    point.accelerator === 'host-cpu' ? null : point.accelerator,
    point.dataset,
    point.strategy,
    point.load === 'c1' ? null : point.load,
    point.variant ?? null,
  ]
    .filter((part) => part !== null)
    .join(' × ');

function accuracyText(results: readonly CellResult[]): string | null {
  const last = results.findLast((r) => r.accuracy !== null);
  if (last?.accuracy == null) return null;
  return `last cell: ${(last.accuracy * 100).toFixed(0)} % right (${pointText(last.point)})`;
}

/** One line for a finished cell, for logs. */
export function cellLine(result: CellResult): string {
  if (result.status === 'skipped') return `${pointText(result.point)}: skipped: ${result.failure}`;
  const accuracy =
    result.accuracy === null ? 'accuracy unknown' : `${(result.accuracy * 100).toFixed(1)} % right`;
  const verdict = result.verdict === null ? result.status : `${result.status}, ${result.verdict}`;
  return `${pointText(result.point)}: ${result.queries} queries, ${accuracy}, ${spanText(result.seconds)} (${verdict})`;
}

export interface Display {
  /** A line that stays, above the live lines. */
  log(line: string): void;
  stop(): void;
}

/**
 * Shows a run's progress: three lines redrawn once a second on a terminal, else one line every half minute. One write
 * a frame, so that the display itself costs next to nothing while power is measured.
 */
export function startDisplay(
  io: Io,
  read: () => { readonly snapshot: ProgressSnapshot; readonly power: PowerNow | null },
): Display {
  const { columns } = io;
  let drawn = 0;
  const erase = () => (drawn === 0 ? '' : `\r\u001b[${drawn}A\u001b[0J`);
  const clear = () => {
    io.draw(erase());
    drawn = 0;
  };
  io.signal.addEventListener('abort', clear);
  const frame = () => {
    const width = io.columns ?? columns ?? 80;
    const { snapshot, power } = read();
    const lines = displayLines(snapshot, power, width).map((line) => line.slice(0, width - 1));
    io.draw(`${erase()}${lines.join('\n')}\n`);
    drawn = lines.length;
  };
  const plain = () => {
    const { snapshot, power } = read();
    io.printError(
      displayLines(snapshot, power)
        .map((line) => line.trim())
        .join(' | '),
    );
  };
  const timer = columns === null ? setInterval(plain, 30_000) : setInterval(frame, 1000);
  return {
    log(line) {
      if (columns === null) return io.printError(line);
      io.draw(`${erase()}${line}\n`);
      drawn = 0;
      frame();
    },
    stop() {
      clearInterval(timer);
      io.signal.removeEventListener('abort', clear);
      clear();
    },
  };
}
