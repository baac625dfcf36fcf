import type { ReplayProgress } from '@perwatt/harness';
import type { Io } from './io.js';
import { type PowerNow, spanText } from './run-display.js';

/** The three lines of a replay's live display. Unknown figures are left out, never shown as 0. */
export function replayLines(progress: ReplayProgress, power: PowerNow | null): [string, string, string] {
  const { rows, done, phase } = progress;
  const share = rows === 0 ? 0 : done / rows;
  const bar = `[${'#'.repeat(Math.round(share * 24)).padEnd(24, '·')}]`;
  const left = leftOf(progress);
  const eta = left === null ? '' : `  about ${spanText(left)} left`;
  return [
    `${bar} ${done}/${rows} calls${eta}`,
    `  ${phase}: ${countTexts(progress).join('   ')}`,
    `  ${[...rateTexts(progress), ...powerTexts(power), scheduleText(progress)].join('   ')}`,
  ];
}

function* nonZero(counts: readonly (readonly [count: number, text: string])[]) {
  for (const [count, text] of counts) if (count > 0) yield `${count} ${text}`;
}

const countTexts = ({ in_flight, failed, waited }: ReplayProgress): string[] => [
  `${in_flight} in flight`,
  ...nonZero([
    [failed, 'failed'],
    [waited, 'had to wait'],
  ]),
];

function rateTexts({ elapsed_ns, sent, tokens }: ReplayProgress): string[] {
  if (elapsed_ns === null || elapsed_ns === 0) return [];
  const rate = (count: number) => (count / elapsed_ns) * 1e9;
  const calls = `${rate(sent).toFixed(1)} calls/s`;
  return tokens === 0 ? [calls] : [calls, `${rate(tokens).toFixed(0)} tokens/s`];
}

const powerTexts = (power: PowerNow | null): string[] =>
  power === null ? [] : [`${power.estimated ? '~' : ''}${power.power_w.toFixed(1)} W`];

const scheduleText = ({ span_ns }: ReplayProgress): string =>
  span_ns === null ? 'closed loop' : `schedule of ${spanText(span_ns / 1e9)}`;

function leftOf({ rows, done, elapsed_ns, span_ns, sent, in_flight }: ReplayProgress): number | null {
  const ended = sent - in_flight;
  if (elapsed_ns === null || ended <= 0 || done >= rows) return null;
  const byPace = (elapsed_ns / ended) * (rows - done);
  const bySchedule = span_ns === null ? 0 : span_ns - elapsed_ns;
  return Math.max(byPace, bySchedule, 0) / 1e9;
}

/** Redraws the lines once a second on a terminal, else prints one every half minute. */
export function startReplayDisplay(
  io: Io,
  read: () => { readonly progress: ReplayProgress; readonly power: PowerNow | null },
): { stop(): void } {
  const { columns } = io;
  let drawn = 0;
  const clear = () => {
    if (drawn > 0) io.draw(`\r\u001b[${drawn}A\u001b[0J`);
    drawn = 0;
  };
  const frame = () => {
    const { progress, power } = read();
    const lines = replayLines(progress, power);
    if (columns === null) return io.printError(lines.map((line) => line.trim()).join(' | '));
    clear();
    io.draw(`${lines.map((line) => line.slice(0, columns - 1)).join('\n')}\n`);
    drawn = lines.length;
  };
  const timer = setInterval(frame, columns === null ? 30_000 : 1000);
  return {
    stop() {
      clearInterval(timer);
      clear();
    },
  };
}
