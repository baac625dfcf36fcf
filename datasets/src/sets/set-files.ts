import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import type { LoadContext } from '../dataset.js';
import { badFile } from '../files/data-file.js';
import { isRecord } from '../options.js';
import type { DatasetCard } from './card.js';

/** A file to read rows from. */
export interface SetFile {
  /** As messages name it. */
  readonly path: string;
  readonly absolute: string;
  /** Path within the folder given; absent where a file was given. */
  readonly inside?: string;
  readonly sha256?: string;
}

/** The files of a path: itself, or those of a folder in the order of their names. Throws `FILE_UNREADABLE`, `DATASET_ROW_INVALID`. */
export async function filesAt(path: string, { root, signal }: LoadContext): Promise<SetFile[]> {
  signal?.throwIfAborted();
  const absolute = resolve(root, path);
  try {
    if (!(await stat(absolute)).isDirectory()) return [{ path, absolute }];
    const names = existsSync(join(absolute, 'state.json'))
      ? await arrowFiles(path, absolute)
      : await namesUnder(absolute);
    if (names.length === 0)
      throw badFile(path, 'is a folder without data files', `Data files end in ${suffixes.join(', ')}.`);
    return names.map((inside) => ({
      path: `${path.replace(/[/\\]+$/, '')}/${inside}`,
      absolute: join(absolute, inside),
      inside,
    }));
  } catch (cause) {
    if (cause instanceof PerwattError || systemCode(cause) === null) throw cause;
    throw new PerwattError('FILE_UNREADABLE', `cannot read ${path}: ${systemCode(cause)}`, { cause });
  }
}

const suffixes = ['.json', '.jsonl', '.csv', '.tsv', '.parquet', '.arrow', '.gz'];
const MOST_FILES = 100_000;
const DEEPEST = 16;

async function namesUnder(folder: string, inside = '', depth = 0): Promise<string[]> {
  const names: string[] = [];
  const entries = await readdir(join(folder, inside), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (entry.isDirectory() && depth < DEEPEST && !entry.name.startsWith('.'))
      names.push(...(await namesUnder(folder, name, depth + 1)));
    else if (entry.isFile() && suffixes.some((suffix) => entry.name.toLowerCase().endsWith(suffix)))
      names.push(name);
    if (names.length > MOST_FILES) throw badFile(folder, `holds more than ${MOST_FILES} files`, 'Name one.');
  }
  return names;
}

/** The data files of a folder that the Arrow-based library of the hub saved; its `state.json` names them. */
async function arrowFiles(path: string, absolute: string): Promise<string[]> {
  const state = await readFile(join(absolute, 'state.json'), 'utf8');
  const files = stateOf(state, path);
  return files.map((file) => {
    const name = isRecord(file) ? file['filename'] : undefined;
    if (typeof name === 'string' && /^[\w.-]+$/.test(name) && !name.startsWith('.')) return name;
    throw badFile(
      `${path}/state.json`,
      `names the file ${JSON.stringify(name)}, which is none of its own folder`,
      'Use only folders whose `state.json` names files beside it.',
    );
  });
}

function stateOf(text: string, path: string): readonly unknown[] {
  try {
    const state: unknown = JSON.parse(text);
    const files = isRecord(state) ? state['_data_files'] : undefined;
    if (Array.isArray(files)) return files;
    throw new Error('no list `_data_files`');
  } catch (cause) {
    throw badFile(`${path}/state.json`, `is not readable (${messageOf(cause)})`, 'Save the data set again.');
  }
}

/** The error for a data set without a path, which says where its files are. */
export const needsPath = (card: DatasetCard, option: 'path' | 'shots'): PerwattError =>
  new PerwattError('DATASET_UNAVAILABLE', `data set "${card.id}" needs the option "${option}"`, {
    hint: howToGet(card),
  });

/** How to come by the files of a data set, in a sentence or two. */
export function howToGet({ id, how, source, hub }: DatasetCard): string {
  const steps = [
    how,
    hub === null ? null : `Run \`perwatt datasets pull ${id}\`${hub.gated ? ' with HF_TOKEN set' : ''}.`,
    `${hub === null ? 'Give' : 'Or give'} the path of a file from ${hub === null ? source : `the hub's data set ${hub.repo}`}.`,
  ];
  return steps.filter((text) => text != null).join(' ');
}
