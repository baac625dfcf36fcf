import {
  type Clock,
  coversEndpoint,
  type GradingAccount,
  type Instant,
  type LateGrader,
} from '@perwatt/core';
import type { GradingLedger, RunFolder } from '@perwatt/records';
import { ledgersOf } from './energy.js';
import type { PowerLog } from './power-log.js';

export interface GradingWorld {
  readonly run: RunFolder;
  readonly power: PowerLog;
  readonly deps: { readonly clock: Clock };
}

/** The account of a model that grades, open while it does. */
export interface OpenGradingLedger {
  /** Closes it and keeps what was taken in the file of the cell. */
  keep(cell: string, sitting: number): void;
}

/** Opens the account of a late grader that keeps one; null for others. Between opening and keeping nothing else may be asked of it. */
export function openGradingLedger(late: LateGrader | null, world: GradingWorld): OpenGradingLedger | null {
  const before = late?.account?.();
  if (late === null || before === undefined) return null;
  const start = edge(world);
  return {
    keep(cell, sitting) {
      const now = late.account?.() ?? before;
      const file = world.run.readCell(cell);
      const ledger = {
        sitting,
        ...difference(now, before),
        start_ns: String(start),
        ...energyUntil(edge(world), { start, account: now, power: world.power }),
      };
      world.run.writeCell({ ...file, grading_ledgers: [...(file.grading_ledgers ?? []), ledger] });
    },
  };
}

/** A moment with a sample of its own, where there is anything to read. */
const edge = ({ power, deps }: GradingWorld): Instant => power.mark() ?? deps.clock.now();

function difference(
  { endpoint, ...now }: GradingAccount,
  before: GradingAccount,
): Omit<GradingLedger, 'sitting' | 'start_ns' | 'end_ns' | 'energy_j' | 'energy_reason'> {
  const minus = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b);
  return {
    role: now.role,
    model: now.model,
    calls: now.calls - before.calls,
    failed_calls: now.failed_calls - before.failed_calls,
    cached: now.cached - before.cached,
    unreadable: now.unreadable - before.unreadable,
    prompt_tokens: minus(now.prompt_tokens, before.prompt_tokens),
    completion_tokens: minus(now.completion_tokens, before.completion_tokens),
    pairs: now.pairs - before.pairs,
    order_flips: now.order_flips - before.order_flips,
  };
}

interface Span {
  readonly start: Instant;
  readonly account: GradingAccount;
  readonly power: PowerLog;
}

/** Gross energy of the meters of what answered: a model under test that idles on the same host is in it. */
function energyUntil(
  end: Instant,
  { start, account, power }: Span,
): Pick<GradingLedger, 'end_ns' | 'energy_j' | 'energy_reason'> {
  const end_ns = String(end);
  const unknown = (energy_reason: string) => ({ end_ns, energy_j: null, energy_reason });
  if (end <= start) return unknown('it took no time');
  power.drain();
  const series = power.series().filter(({ domain }) => coversEndpoint(domain, account.endpoint ?? null));
  const total = ledgersOf({ series, calls: [], surviving: [], window: { start, end } }).filter(
    ({ in_total }) => in_total,
  );
  if (total.length === 0) return unknown('nothing that meters it was read');
  const gap = total.find(({ meter_j }) => meter_j === null);
  if (gap !== undefined) return unknown(`energy of ${gap.domain} is not known: ${gap.reason ?? 'unknown'}`);
  return {
    end_ns,
    energy_j: total.reduce((sum, { meter_j }) => sum + (meter_j ?? 0), 0),
    energy_reason: null,
  };
}
