import type { Domain } from '@perwatt/core';
import { type ChannelNow, channelLines } from './channel-memory.js';
import { figure } from './figure.js';
import type { Io } from './io.js';
import { sparkline } from './sparkline.js';
import { sumKnown, summedOf } from './summed.js';

/** What was read since the last refresh. */
export interface PowerFrame {
  readonly elapsed_ns: number;
  /** Mean power by domain, W; null where nothing new was read. */
  readonly watts: readonly (number | null)[];
  readonly channels: readonly ChannelNow[];
}

/** A way to show watts as they come. */
export interface PowerDisplay {
  readonly every_ms: number;
  frame(frame: PowerFrame): void;
  end(): void;
}

/** Time between two refreshes, ms: on a terminal or as JSON, and as plain lines. */
const refreshMs = { live: 500, plain: 1000 };

/** Lines redrawn in place on a terminal that can, JSON lines where asked for, else a plain line a second. */
export function powerDisplay(
  io: Io,
  domains: readonly Domain[],
  { json }: { readonly json?: boolean },
): PowerDisplay {
  if (json) return jsonLines(io, domains);
  return io.columns === null || io.env['TERM'] === 'dumb'
    ? plainLines(io, domains)
    : redraw(io, domains, io.columns);
}

const jsonLines = (io: Io, domains: readonly Domain[]): PowerDisplay => ({
  every_ms: refreshMs.live,
  frame({ elapsed_ns, watts, channels }) {
    const rows = domains.map(({ id, source, scope, provenance, in_total }, d) => {
      return { id, source, scope, provenance, in_total, power_w: watts[d] ?? null };
    });
    io.print(
      JSON.stringify({
        kind: 'reading',
        elapsed_ns,
        domains: rows,
        total_power_w: totalWatts(domains, watts),
        ...(channels.length > 0 && { channels }),
      }),
    );
  },
  end() {},
});

const plainLines = (io: Io, domains: readonly Domain[]): PowerDisplay => ({
  every_ms: refreshMs.plain,
  frame({ elapsed_ns, watts, channels }) {
    const parts = domains.map((domain, d) => `${domain.id} ${wattsText(watts[d] ?? null, domain)}`);
    io.printError(`${seconds(elapsed_ns)}  ${[...parts, ...channelLines(channels)].join('  ')}`);
  },
  end() {},
});

/** Bars beside the watts: none where there is no room for a few, and never more than a minute of them. */
const fewestBars = 8;
const mostBars = 120;

/** One write a frame, so that the display itself costs next to nothing while power is measured. */
function redraw(io: Io, domains: readonly Domain[], columns: number): PowerDisplay {
  const width = Math.max(...domains.map(({ id }) => id.length));
  const history: (number | null)[][] = domains.map(() => []);
  let drawn = 0;
  const erase = () => (drawn === 0 ? '' : `\r\u001b[${drawn}A\u001b[0J`);
  const end = () => {
    io.draw(erase());
    drawn = 0;
  };
  io.signal.addEventListener('abort', end, { once: true });
  return {
    every_ms: refreshMs.live,
    frame({ elapsed_ns, watts, channels }) {
      const texts = domains.map((domain, d) => wattsText(watts[d] ?? null, domain));
      for (const [d, past] of history.entries()) past.push(watts[d] ?? null);
      for (const past of history) if (past.length > mostBars) past.shift();
      const widest = Math.max(...texts.map(({ length }) => length));
      const room = Math.min(columns - 1 - width - widest - 4, mostBars);
      const rows = domains.map(({ id }, d) => {
        const row = `${id.padEnd(width)}  ${texts[d] ?? ''}`;
        if (room < fewestBars) return row;
        return `${row.padEnd(width + 2 + widest)}  ${sparkline(history[d] ?? [], room)}`;
      });
      const all = [...rows, ...channelLines(channels), seconds(elapsed_ns)];
      const lines = all.map((line) => line.slice(0, columns - 1));
      io.draw(`${erase()}${lines.join('\n')}\n`);
      drawn = lines.length;
    },
    end,
  };
}

const seconds = (elapsed_ns: number) => `${(elapsed_ns / 1e9).toFixed(1)} s`;

const totalWatts = (domains: readonly Domain[], watts: readonly (number | null)[]): number | null =>
  sumKnown(watts.filter((_, d) => summedOf(domains).some((summed) => summed === domains[d])));

export const isEstimate = ({ provenance }: Domain) => provenance === 'estimated';

/** Watts for people; an estimate says that it is one. */
export const wattsText = (power_w: number | null, domain: Domain): string => {
  if (power_w === null) return '- W';
  return isEstimate(domain) ? `~${figure(power_w, 3)} W (estimated)` : `${figure(power_w, 4)} W`;
};
