import { explainFlag, flagsOf } from '@perwatt/core';
import type { DomainLedger, PowerFile, SourceFlag, VerdictReason } from '@perwatt/records';

/** What the recorders of a boot had to say when they were last looked at. */
export const recordedFlags = (power: readonly PowerFile[], boot_id: string | null): SourceFlag[] =>
  power
    .filter((file) => file.boot_id === boot_id && file.status !== undefined)
    .flatMap(({ source, status }) =>
      status === undefined ? [] : flagsOf(status).map((flag) => ({ source, flag })),
    );

export interface FlagScope {
  /** Ledgers of the sitting: those of the total say whose flags count. */
  readonly ledgers: readonly Pick<DomainLedger, 'domain' | 'in_total'>[];
  readonly power: readonly PowerFile[];
}

/** The flags that say something of a cell's energy: of a domain of its total, or of a source that has one. */
export function flagsOfTotal(flags: readonly SourceFlag[], { ledgers, power }: FlagScope): SourceFlag[] {
  const total = new Set(ledgers.filter(({ in_total }) => in_total).map(({ domain }) => domain));
  const sources = new Set(
    power.filter(({ domains }) => domains.some(({ id }) => total.has(id))).map(({ source }) => source),
  );
  const counts = ({ source, flag }: SourceFlag) => {
    const { domain } = explainFlag(flag);
    return domain === null ? sources.has(source) : total.has(domain);
  };
  const unique = new Map(flags.filter(counts).map((entry) => [`${entry.source} ${entry.flag}`, entry]));
  return [...unique.values()];
}

/** Flags of one moment, which a recorder keeps ever after. */
const momentary: ReadonlySet<string> = new Set(['power_suspended', 'power_clock_step', 'power_dropped']);

export interface SittingFlags {
  /** What the recorders had said when the sitting began. */
  readonly earlier: readonly SourceFlag[];
  /** Domains of the sitting, and counters among them that stood still in it. */
  readonly domains: ReadonlySet<string>;
  readonly stood_still: ReadonlySet<string>;
}

/** Flags less what the recorders say of earlier cells only: a moment that had passed, a counter that went on again. */
export function flagsOfSitting(
  flags: readonly SourceFlag[],
  { earlier, domains, stood_still }: SittingFlags,
): SourceFlag[] {
  const known = new Set(earlier.map(({ source, flag }) => `${source} ${flag}`));
  return flags.filter(({ source, flag }) => {
    const { code, domain } = explainFlag(flag);
    if (momentary.has(code)) return !known.has(`${source} ${flag}`);
    const judged = code === 'power_stale_gauge' && domain !== null && domains.has(domain);
    return !judged || stood_still.has(domain);
  });
}

/** Flags as reasons of a verdict: one for each kind, naming every source or domain it is about. */
export function flagReasons(flags: readonly SourceFlag[]): VerdictReason[] {
  const reasons = new Map<string, { texts: Set<string>; fix: string | null }>();
  for (const { source, flag } of flags) {
    const { code, domain, text, fix } = explainFlag(flag);
    const reason = reasons.get(code) ?? { texts: new Set(), fix };
    reason.texts.add(domain === null ? `${source}: ${text}` : text);
    reasons.set(code, reason);
  }
  return [...reasons].map(([code, { texts, fix }]) => ({ code, text: [...texts].join('; '), fix }));
}
