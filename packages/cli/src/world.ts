import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import {
  embeddedClient,
  listModels,
  type ModelWeights,
  probeEngine,
  probeModels,
  pullModel,
  resolveModel,
} from '@perwatt/clients';
import {
  type Calibration,
  calibratedRecorder,
  calibratedSource,
  type EndpointEntry,
  type MatrixFile,
  type ModelEntry,
  PerwattError,
  type PowerSource,
  type Probe,
} from '@perwatt/core';
import { loadDataset, loadTrace, programLanguage, worldOf } from '@perwatt/datasets';
import { type OpenPowerStream, type PreparedModel, streamHere } from '@perwatt/harness';
import {
  bestSources,
  bootId,
  clock,
  cpuTimes,
  hostFacts,
  probeDevices,
  probePower,
  suspendedNs,
} from '@perwatt/native-power';
import { checkpointText } from '@perwatt/records';
import { strategyById } from '@perwatt/strategies';
import { calibrationsHere } from './calibration-store.js';
import { matrixKernels } from './commands/kernels-matrix.js';
import { type KernelsWorld, realKernelsWorld } from './commands/kernels-world.js';
import type { MakeDeps } from './commands/run.js';
import { pulledFiles } from './datasets-store.js';
import { endpointClient } from './endpoint-client.js';
import { engineModel } from './engine-model.js';
import { graderOf, gradingOf } from './grading-world.js';
import { hostCommands } from './host-commands.js';
import { hostDevices } from './host-devices.js';
import type { Io } from './io.js';
import { openMeters, splitSources } from './meters.js';
import { powerPlace, sysRoot } from './power-place.js';
import { openPowerThread } from './power-thread.js';
import type { NativePlace } from './power-thread-messages.js';
import { traceTimes } from './replay-trace.js';
import { routeScorer } from './route-scorer.js';
import { simulatedDeps } from './simulated-deps.js';

/** The real world of a run, from the leaves. */
export const makeDeps =
  (io: Io, version: string): MakeDeps =>
  ({ base, fetch, matrix }) => {
    if (matrix?.simulate !== undefined)
      return simulatedDeps(io, { laws: matrix.simulate, seed: matrix.seed, version });
    const root = sysRoot(io);
    const grading = gradingOf(matrix ?? {}, io);
    return {
      version,
      clock,
      wallTime: io.wallTime,
      bootId: () => bootId(),
      suspendedNs: () => suspendedNs(),
      hostFacts: () => factsOfHost(root),
      cpuTimes(pids) {
        const times = cpuTimes('/', [process.pid, ...pids]);
        return times === null ? null : { host_busy_ns: times.busy_ns, own_ns: times.own_ns };
      },
      powerSources: (wanted) => powerOf(wanted, { root, base, io }),
      openPowerStream,
      commands: hostCommands({ cwd: base, env: io.env }),
      kernels: matrixKernels(io, kernelsWorld(io, version)),
      devices: () => hostDevices({ root, commands: hostCommands({ cwd: base, env: io.env }) }),
      traceTimes: async ({ path, format }) =>
        traceTimes(
          await loadTrace(path, {
            root: base,
            zeroOutput: 'keep',
            signal: io.signal,
            ...(format === undefined ? {} : { format }),
          }),
        ),
      async loadDataset(spec, seed) {
        const dataset = await loadDataset(spec, { root: base, seed, pulled: pulledFiles(io) });
        if (fetch) await grading.prepare(dataset.grader);
        return dataset;
      },
      grader: graderOf,
      lateGrader: (id) => grading.late(id),
      strategy: strategyById,
      worldOf,
      language: programLanguage,
      routeScorer: (file) => routeScorer(resolve(base, file)),
      prepareModel: async (entry, endpoint, engine = null) => {
        if (engine !== null) return engineModel(entry, engine, { io, clock });
        return endpoint === null ? embedded(entry, { io, fetch }) : served(entry, endpoint, io);
      },
    };
  };

interface Native {
  readonly place: NativePlace;
  readonly calibration: Calibration | null;
}

const factsOfHost = (root: string) => ({
  hostname: hostname(),
  ...hostFacts(root),
  node: process.versions.node,
});

/** Where the runners of kernels come from. */
export const kernelsWorld = (io: Io, version: string): KernelsWorld =>
  realKernelsWorld(io, {
    version,
    hostFacts: () => factsOfHost(sysRoot(io)),
    weightFile: (id) => listModels({ env: io.env }).find((model) => model.id === id)?.file ?? null,
  });

/** Where this host's sources are found again by a thread. */
const natives = new WeakMap<PowerSource, Native>();

/** This host's sources are read and written by threads of their own; meters and agents within this one. */
const openPowerStream: OpenPowerStream = (source, options) => {
  const native = natives.get(source);
  if (native === undefined) return streamHere(source, options);
  const stream = openPowerThread(native.place, options);
  return native.calibration === null ? stream : calibratedRecorder(stream, native.calibration);
};

interface Reading {
  readonly root: string;
  readonly base: string;
  readonly io: Io;
}

/**
 * This host's sources, then meters and agents. With agents, whose hosts do the work, this host's are read only by name; nor
 * is there a need of the estimator beside a meter.
 */
async function powerOf(
  wanted: MatrixFile['power'],
  { root, base, io }: Reading,
): Promise<readonly PowerSource[]> {
  if (wanted === undefined) return sources(root, undefined, io);
  const { own, agents } = splitSources(wanted);
  const local = own === undefined ? agents.length === 0 : own.length > 0;
  const calibrations = calibrationsHere(io);
  const opened = await openMeters(wanted, { io, base });
  const others = opened.map((source) => calibratedSource(source, calibrations));
  if (!local) return others;
  const needed = ({ provenance }: PowerSource) => own !== undefined || provenance !== 'estimated';
  return others.length === 0 ? sources(root, own, io) : [...sources(root, own, io).filter(needed), ...others];
}

/** No source at all is no reason to refuse a run: accuracy and time are measured, and the report says what is missing. */
function sources(root: string, names: readonly string[] | undefined, io: Io): readonly PowerSource[] {
  try {
    const calibrations = calibrationsHere(io);
    return bestSources({ ...powerPlace(io), root, ...(names && { names }) }).map((found) => {
      const source = calibratedSource(found, calibrations);
      const calibration = calibrations.find((own) => own.source === found.name) ?? null;
      natives.set(source, { place: { ...powerPlace(io), root, name: found.name }, calibration });
      return source;
    });
  } catch (error) {
    if (names !== undefined || !(error instanceof PerwattError && error.code === 'POWER_NO_SOURCE'))
      throw error;
    io.printError(`warning: nothing is metered: ${error.message}`);
    return [];
  }
}

interface Finding {
  readonly io: Io;
  /** Whether weights that are not here may be fetched. */
  readonly fetch: boolean;
}

async function embedded(entry: ModelEntry, { io, fetch }: Finding): Promise<PreparedModel> {
  const pinned = fetch || entry.path !== undefined ? null : pinOf(entry, io);
  if (pinned !== null) return pinned;
  const weights = await weightsOf(entry, io);
  return {
    sha256: weights.sha256,
    request_model: entry.model ?? entry.id,
    weight_bytes: weights.bytes,
    client: ({ accelerator, sequences }) =>
      embeddedClient({
        modelPath: weights.path,
        model: entry.model ?? entry.id,
        modelSha256: weights.sha256,
        quantisation: weights.quantisation,
        threads: accelerator.threads ?? Math.max(1, availableParallelism() - 1),
        gpu: accelerator.gpu,
        sequences,
        clock,
      }),
  };
}

/** The model as the lock file knows it, for a plan that nothing is run of; null when it has no pin. */
function pinOf(entry: ModelEntry, io: Io): PreparedModel | null {
  const model = listModels({ env: io.env }).find(({ id }) => id === entry.id);
  if (model === undefined || model.sha256 === null || model.bytes === null) return null;
  const client = () => {
    throw new PerwattError('MODEL_UNAVAILABLE', `model ${entry.id} was only planned with`);
  };
  const { sha256, bytes: weight_bytes } = model;
  return { sha256, request_model: entry.model ?? entry.id, weight_bytes, client };
}

/** A file of its own, or the catalogue's weights, fetched when they are not here yet. */
function weightsOf(entry: ModelEntry, io: Io): Promise<ModelWeights> {
  const world = { env: io.env, signal: io.signal };
  if (entry.path !== undefined) return resolveModel(entry.path, world);
  let told = false;
  const onProgress = ({ step, subject }: { readonly step: string; readonly subject: string }) => {
    if (step === 'download' && !told) io.printError(`fetching ${entry.id}: ${subject}`);
    told ||= step === 'download';
  };
  return pullModel(entry.id, { ...world, onProgress });
}

async function served(entry: ModelEntry, endpoint: EndpointEntry, io: Io): Promise<PreparedModel> {
  const request_model = entry.model ?? entry.id;
  if (endpoint.url.startsWith('recipe:')) return trainedPolicy(endpoint.url, request_model);
  const client = endpointClient(endpoint, request_model, io);
  const trial = client();
  try {
    await trial.open();
  } finally {
    await trial.close();
  }
  return { sha256: null, request_model, weight_bytes: null, client };
}

/** A policy that was trained here: its checkpoint is read once, and is what tells its cells from others. */
async function trainedPolicy(address: string, request_model: string): Promise<PreparedModel> {
  const { policyAddress, policyClient, policySha256 } = await import('@perwatt/recipes');
  const text = checkpointText(policyAddress(address)?.checkpoint ?? '');
  const client = () => policyClient({ address, text, clock });
  await client().open();
  return { sha256: policySha256(text), request_model, weight_bytes: null, client };
}

/** What `perwatt doctor` tries, by area. */
export const doctorProbes = (io: Io): (() => Promise<readonly Probe[]>)[] => [
  async () => probePower(powerPlace(io)),
  async () => probeDevices({ root: sysRoot(io) }),
  probeEngine,
  () => probeModels({ env: io.env }),
];
