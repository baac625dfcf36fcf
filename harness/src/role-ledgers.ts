import { type CallRow, coversEndpoint, type EndpointFacts } from '@perwatt/core';
import { attribute, type PowerSeries, type Window } from '@perwatt/metrics';
import type { RoleLedger } from '@perwatt/records';
import { spanOf, summedDomains } from './energy.js';

export interface RoleInput {
  /** Of what may be summed for the cell. */
  readonly series: readonly PowerSeries[];
  /** Calls whose query has an answer. */
  readonly calls: readonly CallRow[];
  readonly window: Window;
  /** What answers behind each endpoint of the strategy; one that is missing is that of `main`. */
  readonly endpoints: ReadonlyMap<string, EndpointFacts>;
}

/**
 * What every role of a strategy took at every endpoint. The energy of a meter is shared by time among the calls in flight on
 * what it meters; what a device draws while only others work is nobody's, so that the roles sum to the ledger's `queries_j` or,
 * where endpoints have devices of their own, to less. Empty for one role at one endpoint: the cell's ledger says it all.
 */
export function roleLedgers(input: RoleInput): RoleLedger[] {
  const groups = byRole(input.calls);
  if (groups.size < 2) return [];
  const energies = energiesByRole(input);
  return [...groups].map(([key, calls]) => ({
    role: calls[0]?.role ?? '',
    endpoint: calls[0]?.endpoint ?? '',
    model: calls[0]?.model ?? '',
    calls: calls.length,
    prompt_tokens: total(calls.map((c) => c.prompt_tokens)),
    completion_tokens: total(calls.map((c) => c.completion_tokens)),
    energy_j: energies.get(key) ?? null,
  }));
}

const keyOf = ({ role, endpoint, model }: Pick<RoleLedger, 'role' | 'endpoint' | 'model'>): string =>
  [role, endpoint, model].join('\u0000');

function byRole(calls: readonly CallRow[]): Map<string, CallRow[]> {
  const groups = new Map<string, CallRow[]>();
  for (const call of calls) {
    const group = groups.get(keyOf(call));
    if (group === undefined) groups.set(keyOf(call), [call]);
    else group.push(call);
  }
  return groups;
}

/** Joules by role; null where a meter has none for a role whose calls it is about. */
function energiesByRole({ series, calls, window, endpoints }: RoleInput): Map<string, number | null> {
  const summed = summedDomains(series);
  const sums = new Map<string, number | null>();
  for (const meter of series.filter(({ domain }) => summed.includes(domain.id))) {
    const own = calls.filter(({ endpoint }) =>
      coversEndpoint(meter.domain, endpoints.get(endpoint) ?? endpoints.get('main') ?? null),
    );
    const { queries: roles } = attribute(
      meter,
      own.map((call) => ({ ...spanOf(call), query_id: keyOf(call) })),
      window,
    );
    for (const key of new Set(own.map(keyOf))) {
      const before = sums.get(key);
      sums.set(key, plus(before === undefined ? 0 : before, roles.get(key)?.energy_j ?? null));
    }
  }
  return sums;
}

const plus = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);

/** Null when one part is unknown. */
const total = (values: readonly (number | null)[]): number | null => values.reduce(plus, 0);

/** Role ledgers of several sittings summed. */
export function addRoleLedgers(before: readonly RoleLedger[], more: readonly RoleLedger[]): RoleLedger[] {
  const sums = new Map(before.map((ledger) => [keyOf(ledger), ledger]));
  for (const ledger of more) {
    const known = sums.get(keyOf(ledger));
    sums.set(keyOf(ledger), known === undefined ? ledger : addOne(known, ledger));
  }
  return [...sums.values()];
}

const addOne = (a: RoleLedger, b: RoleLedger): RoleLedger => ({
  ...a,
  calls: a.calls + b.calls,
  prompt_tokens: plus(a.prompt_tokens, b.prompt_tokens),
  completion_tokens: plus(a.completion_tokens, b.completion_tokens),
  energy_j: plus(a.energy_j, b.energy_j),
});
