import { type EndpointFacts, isElsewhere } from '@perwatt/core';
import type { CellFile, DeviceFacts, DriftFacts, ObservedFacts, RunFolder } from '@perwatt/records';
import { type BoundClients, clientFor } from './bound-clients.js';
import { canonicalJson, differences, sha256Hex } from './canonical.js';
import type { Cell } from './plan.js';

type Facts = ObservedFacts['facts'];

/** Most differences that are kept. */
const MOST = 20;

/** What a server or engine reports of itself, less what differs from start to start: addresses, processes, times. */
function answering(facts: EndpointFacts): Facts {
  const { engine, engine_version, model, model_sha256, quantisation, server } = facts;
  const { kind, chat_template_sha256, context_tokens, threads } = facts;
  return {
    kind,
    engine,
    engine_version,
    model,
    model_sha256,
    quantisation,
    chat_template_sha256,
    context_tokens,
    threads,
    ...(server && {
      server: {
        kind: server.kind,
        version: server.version,
        argv: withoutPort(server.argv, facts.endpoint),
        model: server.model,
        image: server.image,
        image_digest: server.image_digest,
      },
    }),
  };
}

/** Arguments with the port, which is any free one, taken out. */
function withoutPort(argv: readonly string[], endpoint: string): string[] {
  const port = URL.canParse(endpoint) ? new URL(endpoint).port : '';
  return port === '' ? [...argv] : argv.map((word) => word.replaceAll(port, '{port}'));
}

/** What really answers a cell: its endpoints as they report themselves, and the devices of this host that they may run on. */
export function observedOf(
  { models }: Pick<Cell, 'models'>,
  clients: BoundClients,
  devices: readonly DeviceFacts[],
): ObservedFacts {
  const here = models.filter(({ name }) => !isElsewhere(clientFor(clients, name).facts));
  const cpu = here.some(({ accelerator }) => accelerator.kind === 'cpu');
  const other = here.some(({ accelerator }) => accelerator.kind !== 'cpu');
  const used = devices.filter(({ kind }) => (kind === 'cpu' ? cpu : other));
  const facts: Facts = {
    endpoints: Object.fromEntries(
      models.map(({ name }) => [name, answering(clientFor(clients, name).facts)]),
    ),
    devices: used.map(({ name, memory_bytes, driver }) => ({ name, memory_bytes, driver })),
  };
  return { sha256: sha256Hex(canonicalJson(facts)), facts };
}

/** Tells in what a cell's server or device differs from what answered before. */
export interface Observer {
  /**
   * In what it differs from the first sitting of the cell, else from the first cell of the run that is to be answered by the
   * same; null where it does not, or there is none.
   */
  driftOf(cell: Cell, observed: ObservedFacts): DriftFacts | null;
}

interface Earlier {
  readonly cell_id: string;
  readonly sitting: number;
  readonly observed: ObservedFacts;
}

/** Equal for cells that the same server, with the same settings, is to answer. */
const answeredBy = ({ point, concurrency, variant }: Pick<CellFile, 'point' | 'concurrency' | 'variant'>) =>
  canonicalJson([point.model, point.accelerator, point.strategy, concurrency, variant]);

/** An observer that knows what the run holds so far. */
export function createObserver(run: Pick<RunFolder, 'cells'>): Observer {
  const firstOf = new Map<string, Earlier>();
  const note = (file: Pick<CellFile, 'point' | 'concurrency' | 'variant'>, earlier: Earlier) => {
    for (const key of [earlier.cell_id, answeredBy(file)]) {
      if (!firstOf.has(key)) firstOf.set(key, earlier);
    }
  };
  for (const file of run.cells()) {
    for (const { sitting, observed } of file.sittings)
      if (observed !== undefined) note(file, { cell_id: file.cell_id, sitting, observed });
  }
  return {
    driftOf(cell, observed) {
      const { id: cell_id, variant, ...rest } = cell;
      const file = { ...rest, ...(variant === null ? {} : { variant }) };
      const earlier = firstOf.get(cell_id) ?? firstOf.get(answeredBy(file));
      if (earlier === undefined) note(file, { cell_id, sitting: 0, observed });
      if (earlier === undefined || earlier.observed.sha256 === observed.sha256) return null;
      const changes = differences(earlier.observed.facts, observed.facts).slice(0, MOST);
      return { cell_id: earlier.cell_id, sitting: earlier.sitting, changes };
    },
  };
}
