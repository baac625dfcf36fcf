import type { Scope } from '@perwatt/core';
import {
  type Catalogue,
  type CellEnergy,
  type Found,
  findAccelerator,
  findModel,
  type MetricId,
  type MetricValue,
  type PhysicsFinding,
  type PhysicsSetup,
  physicsGate,
  type WeightFormat,
  weightBits,
} from '@perwatt/metrics';
import type { CellFile, RunManifest } from '@perwatt/records';

/** What of a cell is held to physics. */
export interface PhysicsInput {
  readonly cell: Pick<CellFile, 'point' | 'provenance' | 'sittings'>;
  readonly metrics: Readonly<Record<MetricId, Pick<MetricValue, 'value'>>>;
  readonly energy: Pick<CellEnergy, 'boundary' | 'gross_hi_j' | 'busy_ns'>;
  /** Most calls in flight at one moment. */
  readonly in_flight: number;
  readonly manifest: Pick<RunManifest, 'matrix' | 'host'>;
}

/**
 * Bits of a weight in the smallest block type that a file type is made of: a file never holds less, so the bound stays one.
 * Types that mix in smaller blocks (dynamic mixtures, `IQ` and three-bit types) aren't in it.
 */
const fileTypes: Readonly<Record<string, number>> = {
  ...weightBits,
  int8: 8,
  q4_k_s: weightBits.q4_k,
  q4_k_m: weightBits.q4_k,
  q5_k_s: weightBits.q5_k,
  q5_k_m: weightBits.q5_k,
};

/** How weights of a declared file type (`Q4_K_M`, `BF16`) are stored at the least; null for types that aren't known. */
export function weightsOf(quantisation: string | null): WeightFormat | null {
  const bits = quantisation === null ? undefined : fileTypes[quantisation.toLowerCase()];
  return bits === undefined ? null : { bits };
}

const knownFinds = new WeakMap<Catalogue, Map<string, Found<unknown>>>();

/** `find`, which looks through a whole catalogue, once for a name: cells of one run share theirs. */
function once<E>(catalogue: Catalogue, kind: string, find: (name: string) => Found<E>) {
  const known = knownFinds.get(catalogue) ?? new Map<string, Found<unknown>>();
  knownFinds.set(catalogue, known);
  return (name: string): Found<E> => {
    const found = (known.get(`${kind} ${name}`) as Found<E> | undefined) ?? find(name);
    known.set(`${kind} ${name}`, found);
    return found;
  };
}

function oneAfterAnother(dispatch: Float64Array, end: Float64Array): boolean {
  for (let i = 1; i < dispatch.length; i++) {
    const start = dispatch[i] ?? Number.NaN;
    if (!(start > (end[i - 1] ?? start))) return false;
  }
  return true;
}

/**
 * Most calls in flight at one moment: none of them was ever decoded with more beside it. Starts and ends are of the same
 * calls, in any order.
 */
export function mostInFlight(dispatch: Float64Array, end: Float64Array): number {
  if (oneAfterAnother(dispatch, end)) return Math.min(dispatch.length, 1);
  const [starts, ends] = [dispatch.slice().sort(), end.slice().sort()];
  let [most, ended] = [0, 0];
  for (let i = 0; i < starts.length; i++) {
    const start = starts[i] ?? 0;
    while ((ends[ended] ?? start) < start) ended += 1;
    most = Math.max(most, i + 1 - ended);
  }
  return most;
}

/** The first entry that one of the names finds, else what the first one came to. */
function firstFound<E>(names: readonly string[], find: (name: string) => Found<E>): Found<E> {
  const tried = [...new Set(names.filter((name) => name !== ''))].map(find);
  const nothing: Found<E> = { entry: null, by: null, reason: 'no name', near: [] };
  return tried.find(({ entry }) => entry !== null) ?? tried[0] ?? nothing;
}

const baseName = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;

/** The catalogue's entry of a cell's model: by its id in the matrix, the name its endpoint knows, or its weight file. */
export function modelEntry(
  cell: PhysicsInput['cell'],
  { matrix }: Pick<RunManifest, 'matrix'>,
  catalogue: Catalogue,
): ReturnType<typeof findModel> {
  const declared = matrix.axes.model.find(({ id }) => id === cell.point.model);
  const served = cell.provenance?.endpoint.model ?? '';
  const names = [declared?.model ?? '', served, baseName(served), baseName(declared?.path ?? '')];
  const find = once(catalogue, 'model', (name) => findModel(catalogue, name));
  return firstFound([cell.point.model, ...names], find);
}

/** The catalogue's entry of a cell's accelerator: by its id in the matrix, or the host's processor where that is what runs. */
export function acceleratorEntry(
  cell: PhysicsInput['cell'],
  { matrix, host }: Pick<RunManifest, 'matrix' | 'host'>,
  catalogue: Catalogue,
): ReturnType<typeof findAccelerator> {
  const declared = matrix.axes.accelerator.find(({ id }) => id === cell.point.accelerator);
  const embedded = cell.provenance?.endpoint.kind === 'embedded';
  const processor = declared?.kind === 'cpu' && !declared.gpu && embedded ? (host.cpu ?? '') : '';
  const find = once(catalogue, 'accelerator', (name) => findAccelerator(catalogue, name));
  return firstFound([cell.point.accelerator, processor], find);
}

const device: ReadonlySet<Scope> = new Set(['gpu', 'module', 'npu', 'soc']);

/** Devices that were metered; one where none was met by itself. */
function devicesOf({ boundary }: PhysicsInput['energy']): number {
  return Math.max(1, boundary?.domains.filter(({ scope }) => device.has(scope)).length ?? 0);
}

/** Lowest idle power of the boundary at its lower bound over all baselines, W; null where a domain's isn't known. */
function idleLow({ sittings }: PhysicsInput['cell'], { boundary }: PhysicsInput['energy']): number | null {
  if (boundary === null || boundary.provenance === 'estimated') return null;
  const sums = sittings
    .flatMap(({ baselines }) => baselines)
    .map(({ powers }) =>
      boundary.domains.reduce(
        (sum, { id }) => sum + (powers.find(({ domain }) => domain === id)?.lo_w ?? Number.NaN),
        0,
      ),
    );
  const known = sums.filter(Number.isFinite);
  return known.length === 0 || known.length < sums.length ? null : Math.min(...known);
}

function setupOf(input: PhysicsInput, found: ReturnType<typeof findBoth>): PhysicsSetup {
  const { cell, energy } = input;
  const accelerator = found.accelerator.entry;
  const scopes = new Set(energy.boundary?.domains.map(({ scope }) => scope) ?? []);
  return {
    model: found.model.entry,
    accelerator,
    weights: weightsOf(cell.provenance?.endpoint.quantisation ?? null),
    batch: Math.max(1, input.in_flight),
    devices: devicesOf(energy),
    same_boundary:
      accelerator?.boundary != null &&
      energy.boundary?.provenance !== 'estimated' &&
      scopes.size === 1 &&
      scopes.has(accelerator.boundary.scope),
    idle_lo_w: idleLow(cell, energy),
  };
}

const findBoth = ({ cell, manifest }: PhysicsInput, catalogue: Catalogue) => ({
  model: modelEntry(cell, manifest, catalogue),
  accelerator: acceleratorEntry(cell, manifest, catalogue),
});

/** Says which name the catalogue doesn't know, in place of `model unknown`. */
function named(finding: PhysicsFinding, found: ReturnType<typeof findBoth>): PhysicsFinding {
  if (finding.outcome !== 'not_checked') return finding;
  const reason = {
    'not checked: model unknown': found.model.reason,
    'not checked: accelerator unknown': found.accelerator.reason,
  }[finding.verdict];
  return reason == null ? finding : { ...finding, verdict: `${finding.verdict} (${reason})` };
}

/**
 * A cell's figures against what its hardware can do: tokens a second, watts and joules of its busy time. Sequences
 * decoded together are at most those in flight, devices are those in the boundary. What the catalogue
 * doesn't know leaves a check unmade, with its name.
 */
export function physicsOf(input: PhysicsInput, catalogue: Catalogue): PhysicsFinding[] {
  const { metrics, energy } = input;
  const found = findBoth(input, catalogue);
  const estimated = energy.boundary?.provenance === 'estimated';
  const claims = {
    decode_tokens_per_s: metrics.tokens_per_s.value,
    mean_power_w: metrics.power_w.value,
    energy_hi_j: estimated ? null : energy.gross_hi_j,
    window_s: energy.busy_ns / 1e9,
  };
  return physicsGate(claims, setupOf(input, found)).map((finding) => named(finding, found));
}

/** The findings that can't be as one flag of a verdict; none where all is possible. */
export function physicsFlag(
  findings: readonly PhysicsFinding[],
): { readonly code: 'beyond_physics'; readonly severity: 'flagged'; readonly text: string }[] {
  const beyond = findings.filter(({ outcome }) => outcome === 'impossible');
  if (beyond.length === 0) return [];
  const text = beyond.map(({ verdict, arithmetic }) => `${verdict}: ${arithmetic}`).join('; ');
  return [{ code: 'beyond_physics', severity: 'flagged', text }];
}
