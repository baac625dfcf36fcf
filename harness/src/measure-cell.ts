import { join } from 'node:path';
import { messageOf, PerwattError } from '@perwatt/core';
import type { BoundFacts, CellFile, CoolDownFacts, RunFolder } from '@perwatt/records';
import { type BoundClients, clientFor } from './bound-clients.js';
import type { createClientPool } from './client-pool.js';
import { pause } from './deps.js';
import { gradedAhead } from './grade-ahead.js';
import { openGradingLedger } from './grading-ledger.js';
import type { IdleBaselines } from './idle-baselines.js';
import type { Levels } from './levels.js';
import { type Observer, observedOf } from './observed.js';
import type { Cell, Plan } from './plan.js';
import type { PowerCaps } from './power-cap.js';
import type { CellResult } from './progress.js';
import { type CellWorld, measureIdle, runSitting } from './run-cell.js';
import { type Settled, settleCell } from './settle.js';
import { coolDown } from './thermal-gate.js';

/** What the cells of a run share. */
export interface CellTools {
  readonly world: CellWorld;
  readonly pool: ReturnType<typeof createClientPool>;
  readonly idle: IdleBaselines;
  readonly caps: PowerCaps;
  readonly observer: Observer;
}

/** How a cell ended. */
export interface Ended extends Omit<CellResult, 'seconds'> {
  /** Whether it has queries and all of them failed. */
  readonly all_failed: boolean;
}

/** What was the matter with a cell as a whole: it failed, or every query of it did; null for one that says something. */
export const wholeFailure = ({ status, failure, all_failed }: Ended): string | null =>
  status === 'failed'
    ? (failure ?? 'it did not finish')
    : status === 'done' && all_failed
      ? 'every query of it failed'
      : null;

/**
 * Measures one cell: model, baselines, sitting, grades. A failure is recorded in the cell's file and the run goes on;
 * only a full disk is thrown.
 */
export async function runOne(cell: Cell, tools: CellTools): Promise<Ended> {
  const { world } = tools;
  try {
    return await measureCell(cell, tools);
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'DISK_FULL') throw error;
    const unmeasured = { point: cell.point, verdict: null, accuracy: null, queries: 0, all_failed: false };
    if (world.signal.aborted) return { ...unmeasured, status: 'interrupted', failure: null };
    const file = world.run.readCell(cell.id);
    const failure = error instanceof PerwattError ? `${error.code}: ${error.message}` : messageOf(error);
    world.run.writeCell({ ...file, status: 'failed', failure });
    return { ...unmeasured, status: 'failed', failure };
  }
}

async function measureCell(cell: Cell, { world, pool, idle, caps, observer }: CellTools): Promise<Ended> {
  const { run, plan, deps, signal } = world;
  const earlier_flags = world.power.flags();
  const key = cell.load_key;
  const power_cap = await caps.apply(cell.variant?.power_cap_w ?? null);
  const switched = await pool.release(cell.models.map(({ load_key }) => load_key));
  const cool_down = await waitUntilIdle(idle.idleLevels(switched ? null : key), world);
  if (switched) await idle.hostIdle();
  world.progress.phase('loading the model');
  const clients = await openClients(cell, { world, pool });
  const within = endingWith(clients, world);
  const observed = observedOf(cell, clients, world.devices);
  run.writeCell({
    ...run.readCell(cell.id),
    failure: null,
    provenance: provenanceOf(cell, clients, plan),
    hashes: { ...cell.hashes, observed: observed.sha256 },
  });
  const before = await idle.loadedBefore(key);
  const baselines = [...idle.hostBefore(), ...before];
  const drift = observer.driftOf(cell, observed);
  await runSitting(cell, { clients, baselines, cool_down, power_cap, observed, drift }, within);
  const sitting = run.readCell(cell.id).sittings.length - 1;
  if (power_cap !== null) noteCapAfter(run, cell, { sitting, after_w: await caps.readNow() });
  const after = await measureIdle(within, { kind: 'loaded_idle', when: 'after', shared: false });
  idle.awaitsHostAfter(cell, sitting);
  world.progress.phase('grading');
  const late = deps.lateGrader?.(cell.grader.id) ?? null;
  const ledger = openGradingLedger(late, world);
  const judged = await gradedAhead(cell, { run, sitting, late, signal });
  ledger?.keep(cell.id, sitting);
  const live = { power: world.power, after, earlier_flags };
  const settled = settleCell(judged, { run, plan, sitting, live });
  const failure = noteEnd(clients, settled, world);
  const status = settled.complete ? 'done' : signal.aborted ? 'interrupted' : 'failed';
  return {
    point: cell.point,
    status,
    failure,
    all_failed: settled.queries > 0 && settled.failed === settled.queries,
    verdict: settled.file.verdict?.state ?? null,
    accuracy: settled.accuracy,
    queries: settled.queries,
  };
}

/** Keeps what the power limit of a sitting was after it. */
function noteCapAfter(
  run: RunFolder,
  { id }: Cell,
  { sitting, after_w }: { readonly sitting: number; readonly after_w: number | null },
): void {
  const file = run.readCell(id);
  const sittings = file.sittings.map((own) =>
    own.sitting === sitting && own.power_cap !== undefined
      ? { ...own, power_cap: { ...own.power_cap, after_w } }
      : own,
  );
  run.writeCell({ ...file, sittings });
}

/** Waits as the protocol's gate says; null where it has none. Throws when the run is stopped meanwhile. */
async function waitUntilIdle(
  levels: Levels | null,
  { plan, power, deps, signal, progress }: CellWorld,
): Promise<CoolDownFacts | null> {
  const { cool_down_gate: gate, cooldown_s } = plan.protocol;
  if (gate === undefined) return null;
  progress.phase('cool-down');
  const wait = (seconds: number) => pause(seconds * 1000, signal, deps.timer);
  const read = () => {
    power.drain();
    return power.levels();
  };
  const nowS = () => Number(deps.clock.now()) / 1e9;
  const facts = await coolDown(gate, levels, { read, nowS, wait, signal });
  if (facts.state === 'on_time') await wait(cooldown_s);
  signal.throwIfAborted();
  return facts;
}

/** The clients of a cell's models, opened where they are not. */
async function openClients(
  cell: Cell,
  { world, pool }: Pick<CellTools, 'world' | 'pool'>,
): Promise<BoundClients> {
  const { run, progress, signal } = world;
  const open = await pool.open(
    cell.models.map(({ load_key: key, model, accelerator }) => ({
      key,
      make: () =>
        model.client({
          accelerator,
          sequences: cell.concurrency,
          log_folder: join(run.path, 'engines'),
          signal,
          onProgress: (text) => progress.phase(text),
        }),
    })),
  );
  return new Map(
    cell.models.flatMap(({ name, id, load_key, model: { request_model } }) => {
      const client = open.get(load_key);
      return client === undefined ? [] : [[name, { ...client, model: id, request_model }]];
    }),
  );
}

const endsOf = (clients: BoundClients): AbortSignal[] =>
  [...clients.values()].flatMap(({ client }) => client.ended ?? []);

/** A server that ends by itself ends its cell, and nothing else. */
function endingWith(clients: BoundClients, world: CellWorld): CellWorld {
  const ends = endsOf(clients);
  return ends.length === 0 ? world : { ...world, signal: AbortSignal.any([world.signal, ...ends]) };
}

/** Keeps why the cell's server ended, where that left queries open; returns it. */
function noteEnd(
  clients: BoundClients,
  { complete, file }: Settled,
  { run, signal }: CellWorld,
): string | null {
  const ended = endsOf(clients).find(({ aborted }) => aborted);
  if (complete || signal.aborted || ended === undefined) return null;
  const { reason } = ended;
  const failure = reason instanceof PerwattError ? `${reason.code}: ${reason.message}` : messageOf(reason);
  run.writeCell({ ...file, status: 'failed', failure });
  return failure;
}

const provenanceOf = (cell: Cell, clients: BoundClients, plan: Plan): CellFile['provenance'] => ({
  endpoint: clientFor(clients, 'main').facts,
  ...boundFacts(cell, clients),
  dataset: {
    id: cell.dataset.id,
    version: cell.dataset.version,
    digest: cell.dataset.digest,
    items: cell.dataset.items.length,
    licence: cell.dataset.licence,
    guess_rate: cell.dataset.guess_rate,
    ...promptAndFiles(cell.dataset),
  },
  strategy: { id: cell.strategy.id, version: cell.strategy.version, params: cell.params },
  grader: { id: cell.grader.id, version: cell.grader.version, mode: cell.mode },
  protocol: plan.matrix.protocol,
});

function boundFacts(
  { models }: Cell,
  clients: BoundClients,
): { readonly bound?: Record<string, BoundFacts> } {
  const [, ...others] = models;
  if (others.length === 0) return {};
  const entries = others.map(({ name, id, accelerator }) => [
    name,
    { model: id, accelerator: accelerator.id, endpoint: clientFor(clients, name).facts },
  ]);
  return { bound: Object.fromEntries(entries) };
}

/** What a published data set says of itself beside its items; generated ones have one way to be asked. */
const promptAndFiles = ({ prompt, known_bad, withhold, files }: Cell['dataset']) => ({
  ...(prompt === undefined ? {} : { prompt }),
  ...(known_bad === undefined ? {} : { known_bad: known_bad.length }),
  ...(withhold === undefined ? {} : { withhold }),
  ...(files === undefined ? {} : { files }),
});
