import { join } from 'node:path';
import { hubDataset, type PulledFile, pullHubFile, type WeightsWorld } from '@perwatt/clients';
import { PerwattError } from '@perwatt/core';
import { type DatasetCard, howToGet, loadDataset } from '@perwatt/datasets';
import { Command } from 'commander';
import {
  copyInto,
  type GivenFile,
  givenFiles,
  isInside,
  keepPulled,
  pulledSplit,
  splitFolder,
} from '../datasets-store.js';
import type { Io } from '../io.js';
import { cardOf, entryOf } from './datasets-entry.js';

interface PullFlags {
  readonly split?: string;
  readonly revision: string;
  readonly from?: readonly string[];
  readonly sha256?: string;
  readonly repin?: boolean;
  readonly json?: boolean;
}

const examples = `
Examples:
  perwatt datasets pull gsm8k
  perwatt datasets pull gsm8k --split train
  HF_TOKEN=hf_… perwatt datasets pull gpqa
  perwatt datasets pull musique --from musique_ans_v1.0_dev.jsonl

Environment: PERWATT_CACHE (folder of the cache); HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE as for the hub's own client.`;

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** `perwatt datasets pull`. `world` replaces parts of the real one in tests. */
export const pullCommand = (io: Io, world: Partial<WeightsWorld> = {}): Command =>
  new Command('pull')
    .description(
      'Fetch a published data set from the hub, or keep files you have, checked and pinned by sha256',
    )
    .argument('<name>', 'name from `perwatt datasets list`')
    .option('--split <name>', 'split to fetch; default: the first of the card')
    .option('--revision <commit>', 'branch, tag or commit of the repository', 'main')
    .option('--from <file>', 'take this file instead of the hub; may be given several times', collect)
    .option('--sha256 <hex>', 'sha256 that the file given must have')
    .option('--repin', 'take files that differ from those pulled before')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action(async (name: string, flags: PullFlags) => {
      const card = cardOf(entryOf(name));
      const split = splitOf(card, flags.split);
      const pulled = await pull({ card, split, flags }, io, world);
      const folder = splitFolder(card.id, split, io);
      if (flags.json) return io.print(JSON.stringify({ id: card.id, split, folder, ...pulled }, null, 2));
      for (const { path, bytes, sha256 } of pulled.files)
        io.print(`${path}  ${bytes} bytes  sha256 ${sha256}`);
      io.print(`${card.id} (${split}): ${pulled.rows} items in ${folder}`);
      for (const note of pulled.notes) io.printError(note);
    });

function splitOf({ id, splits }: DatasetCard, wanted: string | undefined): string {
  const names = Object.keys(splits);
  const split = wanted ?? names[0];
  if (split !== undefined && names.includes(split)) return split;
  throw new PerwattError('USAGE', `data set "${id}" has no split "${wanted}": ${names.join(', ')}`);
}

interface Wanted {
  readonly card: DatasetCard;
  readonly split: string;
  readonly flags: PullFlags;
}

interface PullResult {
  readonly repo: string | null;
  readonly revision: string | null;
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
  /** Items that the loader finds in the files. */
  readonly rows: number;
  readonly notes: readonly string[];
}

async function pull(wanted: Wanted, io: Io, world: Partial<WeightsWorld>): Promise<PullResult> {
  const { from, sha256 } = wanted.flags;
  if (from !== undefined) return fromFiles(wanted, await givenFiles(from, io), io);
  if (sha256 !== undefined)
    throw new PerwattError('USAGE', '--sha256 is for a file given with --from; the hub says its own');
  return fromHub(wanted, io, world);
}

async function fromHub(
  { card, split, flags }: Wanted,
  io: Io,
  world: Partial<WeightsWorld>,
): Promise<PullResult> {
  const { hub } = card;
  if (hub === null)
    throw new PerwattError('DATASET_UNAVAILABLE', `data set "${card.id}" is not on the hub`, {
      hint: `${howToGet(card)} Keep it with \`perwatt datasets pull ${card.id} --from FILE\`.`,
    });
  const pattern = hub.files[split];
  if (pattern === undefined)
    throw new PerwattError('DATASET_UNAVAILABLE', `the hub has no split "${split}" of ${card.id}`, {
      hint: howToGet(card),
    });
  const whole: WeightsWorld = { env: io.env, signal: io.signal, ...progressTo(io), ...world };
  const before = pulledSplit(card.id, split, io);
  const source = { repo: hub.repo, revision: flags.revision, gated: hub.gated };
  const listing = await hubDataset(source, whole);
  const entries = listing.files.filter(({ file }) => matches(pattern, file));
  const odd = entries.find(({ file }) => !isInside(file));
  if (odd !== undefined)
    throw new PerwattError(
      'DATASET_UNAVAILABLE',
      `${hub.repo} names the file ${JSON.stringify(odd.file)}, which would leave its folder`,
      { hint: 'Do not use this source.' },
    );
  if (entries.length === 0)
    throw new PerwattError(
      'DATASET_CHANGED',
      `${hub.repo} has no file ${pattern} any more; it has ${listing.files.length} files`,
      { hint: 'Its layout has changed: fetch the files by hand and keep them with `--from`.' },
    );
  const folder = splitFolder(card.id, split, io);
  const files: PulledFile[] = [];
  for (const entry of entries) {
    const pin = before?.files.find(({ path }) => path === entry.file)?.sha256;
    const pinned = flags.repin || before?.repo == null ? undefined : pin;
    const from = { ...source, revision: listing.revision };
    files.push(await pullHubFile({ source: from, entry, path: join(folder, entry.file), pinned }, whole));
  }
  const kept = entries.map(({ file }, i) => ({
    path: file,
    bytes: files[i]?.bytes ?? 0,
    sha256: files[i]?.sha256 ?? '',
  }));
  const repo = { repo: hub.repo, revision: listing.revision };
  return finish(card, split, { ...repo, files: kept, io, notes: [] });
}

/** Whether a path is one of a card's files, where `*` stands for anything but a slash. */
function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^/]*')}$`).test(path);
}

async function fromFiles(
  { card, split, flags }: Wanted,
  given: readonly GivenFile[],
  io: Io,
): Promise<PullResult> {
  const names = given.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new PerwattError('INPUT_INVALID', `two of the files are called ${twice}`);
  const [only] = given;
  if (flags.sha256 !== undefined && only !== undefined && only.sha256 !== flags.sha256.toLowerCase())
    throw new PerwattError(
      'DATASET_CHANGED',
      `${only.path} has sha256 ${only.sha256}, but ${flags.sha256} is wanted`,
    );
  const before = pulledSplit(card.id, split, io);
  const changed = given.find(({ name, sha256 }) =>
    before?.files.some((file) => file.path === name && file.sha256 !== sha256),
  );
  if (changed !== undefined && !flags.repin)
    throw new PerwattError(
      'DATASET_CHANGED',
      `${changed.path} has sha256 ${changed.sha256}, another than the file kept before`,
      { hint: 'Give the file that was kept, or take the new one with `--repin`.' },
    );
  const notes = given.flatMap(({ path, sha256 }) => {
    const known = card.copies.find((copy) => copy.sha256 === sha256);
    return [
      known === undefined
        ? `${path} is no copy that the card knows; its sha256 is pinned from now on`
        : `${path}: ${known.name}`,
    ];
  });
  await loadable(card, split, given, io);
  const folder = splitFolder(card.id, split, io);
  for (const file of given) await copyInto(folder, file);
  const files = given.map(({ name, bytes, sha256 }) => ({ path: name, bytes, sha256 }));
  return finish(card, split, { repo: null, revision: null, files, io, notes });
}

/** Reads given files before they are kept. Throws what the loader throws. */
async function loadable(
  card: DatasetCard,
  split: string,
  given: readonly GivenFile[],
  io: Io,
): Promise<void> {
  const pulled = () =>
    given.map(({ path, absolute, name, sha256 }) => ({
      path,
      absolute,
      sha256,
      ...(given.length > 1 && { inside: name }),
    }));
  await loadDataset(
    { kind: card.id, options: { split } },
    { root: io.cwd, seed: 0, signal: io.signal, pulled },
  );
}

interface Finishing extends Omit<PullResult, 'rows'> {
  readonly io: Io;
}

/** Reads what was fetched, and only then says that it is there. */
async function finish(
  card: DatasetCard,
  split: string,
  { repo, revision, files, io, notes }: Finishing,
): Promise<PullResult> {
  const folder = splitFolder(card.id, split, io);
  const pulled = () =>
    files.map(({ path, sha256 }) => ({
      path: `${card.id}/${path}`,
      absolute: join(folder, path),
      sha256,
      ...(files.length > 1 && { inside: path }),
    }));
  const dataset = await loadDataset(
    { kind: card.id, options: { split } },
    { root: io.cwd, seed: 0, signal: io.signal, pulled },
  );
  const pulled_at = io.wallTime().toISOString();
  await keepPulled({ id: card.id, split, repo, revision, pulled_at, files: [...files] }, io);
  return { repo, revision, files, rows: dataset.items.length, notes };
}

/** A line for each file as it begins. */
function progressTo(io: Io): Pick<WeightsWorld, 'onProgress'> {
  const told = new Set<string>();
  return {
    onProgress({ step, subject, total_bytes }) {
      if (step !== 'download' || told.has(subject)) return;
      told.add(subject);
      io.printError(
        `fetching ${subject}${total_bytes === null ? '' : ` (${(total_bytes / 1e6).toFixed(1)} MB)`}`,
      );
    },
  };
}
