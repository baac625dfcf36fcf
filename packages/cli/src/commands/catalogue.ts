import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import {
  type Catalogue,
  type CatalogueAccelerator,
  type CatalogueModel,
  countParams,
  type Found,
  findAccelerator,
  findModel,
  kvElements,
  numberTypes,
  shippedCatalogue,
  withOwnEntries,
} from '@perwatt/metrics';
import { Command } from 'commander';
import type { Io } from '../io.js';

interface Flags {
  readonly file?: string;
  readonly json?: boolean;
}

const examples = `
Examples:
  perwatt catalogue models list
  perwatt catalogue accelerators list
  perwatt catalogue models show qwen3-30b-a3b
  perwatt catalogue accelerators show "NVIDIA H100 80GB HBM3" --json
  perwatt catalogue models show my-model --file my-catalogue.yaml

Facts of datasheets and checkpoints, each with its source: they bound what a result may claim and are no measurements.
Figures marked * rest on general knowledge alone; a dash is unknown. A file of your own (YAML or JSON) lists \`models\`
and \`accelerators\`; an entry replaces a known one with \`override: true\`.`;

/** `perwatt catalogue`: facts of models and accelerators. */
export const catalogueCommand = (io: Io): Command =>
  new Command('catalogue')
    .description('Show facts of models and accelerators, with their sources')
    .addHelpText('after', examples)
    .addCommand(kindCommand(io, modelKind))
    .addCommand(kindCommand(io, acceleratorKind));

interface Kind<E> {
  readonly name: 'models' | 'accelerators';
  readonly entries: (catalogue: Catalogue) => readonly E[];
  readonly find: (catalogue: Catalogue, name: string) => Found<E>;
  readonly header: readonly string[];
  readonly row: (entry: E) => readonly string[];
  readonly derived: (entry: E) => Readonly<Record<string, number>>;
}

function kindCommand<E extends CatalogueModel | CatalogueAccelerator>(io: Io, kind: Kind<E>): Command {
  const command = new Command(kind.name)
    .description(`List ${kind.name}, or show one`)
    .addHelpText('after', examples);
  const withFlags = (sub: Command) =>
    sub.option('--file <path>', 'file with entries of your own').option('--json', 'print JSON');
  return command
    .addCommand(
      withFlags(new Command('list').description(`List the ${kind.name}`)).action((flags: Flags) =>
        list(kind, flags, io),
      ),
      { isDefault: true },
    )
    .addCommand(
      withFlags(new Command('show').description('Show one with its sources'))
        .argument('<name>', 'id, or any name that means one entry only')
        .action((name: string, flags: Flags) => show(kind, name, { flags, io })),
    );
}

function catalogueOf({ file }: Flags, io: Io): Catalogue {
  const shipped = shippedCatalogue();
  return file === undefined ? shipped : withOwnEntries(shipped, { text: read(file, io), file });
}

function read(file: string, io: Io): string {
  try {
    return readFileSync(resolve(io.cwd, file), 'utf8');
  } catch (error) {
    throw new PerwattError(
      'FILE_UNREADABLE',
      `cannot read ${file}: ${systemCode(error) ?? messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

function list<E extends CatalogueModel | CatalogueAccelerator>(kind: Kind<E>, flags: Flags, io: Io): void {
  const catalogue = catalogueOf(flags, io);
  const entries = kind.entries(catalogue);
  if (flags.json === true) {
    io.print(JSON.stringify({ as_of: catalogue.as_of, [kind.name]: entries }, null, 2));
    return;
  }
  const rows = [kind.header, ...entries.map(kind.row)];
  const widths = kind.header.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows)
    io.print(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  io.print(`facts as of ${catalogue.as_of}; * from general knowledge alone, – unknown`);
}

function show<E extends CatalogueModel | CatalogueAccelerator>(
  kind: Kind<E>,
  name: string,
  { flags, io }: { readonly flags: Flags; readonly io: Io },
): void {
  const catalogue = catalogueOf(flags, io);
  const { entry, reason, near } = kind.find(catalogue, name);
  if (entry === null)
    throw new PerwattError('INPUT_INVALID', reason ?? `"${name}" has no entry`, {
      hint:
        near.length > 0
          ? `Name one of: ${near.join(', ')}.`
          : `Run \`perwatt catalogue ${kind.name}\` to see what there is, or give a \`--file\` of your own.`,
    });
  const derived = kind.derived(entry);
  const sources = sourcesOf(entry, catalogue.source_list[kind.name]);
  if (flags.json === true) io.print(JSON.stringify({ ...entry, derived, source_list: sources }, null, 2));
  else for (const line of describe(entry, derived, sources)) io.print(line);
}

type Sources = Catalogue['source_list']['models'];

const sourcesOf = (entry: CatalogueModel | CatalogueAccelerator, all: Sources): Sources =>
  Object.fromEntries(
    [...new Set(Object.values(entry.sources).flat())].flatMap((key) => {
      const source = all[key];
      return source === undefined ? [] : [[key, source]];
    }),
  );

/** Fields that have a place of their own in the text. */
const apart = new Set(['sources', 'from_memory', 'caution']);

function describe(
  entry: CatalogueModel | CatalogueAccelerator,
  derived: Readonly<Record<string, number>>,
  sources: Sources,
): string[] {
  const facts = Object.entries(entry).filter(([field]) => !apart.has(field));
  return [
    ...facts.flatMap(([field, value]) => factLines(field, value, entry.from_memory)),
    ...Object.entries(derived).map(([field, value]) => `${field}: ${value} (from the shape)`),
    ...(entry.caution === null ? [] : [`caution: ${entry.caution}`]),
    ...Object.entries(entry.sources).map(([field, keys]) => `source of ${field}: ${keys.join(', ')}`),
    ...Object.entries(sources).map(
      ([key, { title, revision, date }]) =>
        `  ${key} = ${[title, revision, date].filter((part) => part !== null).join(', ')}`,
    ),
  ];
}

function factLines(field: string, value: unknown, memory: readonly string[]): string[] {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.entries(value).flatMap(([inner, held]) => factLines(`${field}.${inner}`, held, memory));
  if (Array.isArray(value) && value.length === 0) return [];
  const text = value === null ? '–' : Array.isArray(value) ? value.join(', ') : String(value);
  return [`${field}: ${text}${fromMemory(field, memory) ? ' *' : ''}`];
}

const fromMemory = (field: string, memory: readonly string[]): boolean =>
  memory.some((known) => field === known || field.startsWith(`${known}.`));

const starred = (entry: CatalogueModel | CatalogueAccelerator, field: string, text: string | null): string =>
  text === null ? '–' : `${text}${fromMemory(field, entry.from_memory) ? '*' : ''}`;

const scaled = (value: number | null, unit: number, digits: number): string | null =>
  value === null ? null : (value / unit).toFixed(digits);

const modelKind: Kind<CatalogueModel> = {
  name: 'models',
  entries: ({ models }) => models,
  find: findModel,
  header: ['id', 'total (B)', 'active (B)', 'context', 'released', 'licence'],
  row: (model) => [
    model.id,
    starred(model, 'params_total', scaled(model.params_total, 1e9, 3)),
    starred(model, 'params_active', scaled(model.params_active, 1e9, 3)),
    starred(model, 'context_length', scaled(model.context_length, 1, 0)),
    starred(model, 'release_date', model.release_date),
    starred(model, 'licence', model.licence),
  ],
  derived: ({ shape }) => {
    if (shape === null) return {};
    const [counts, kv] = [countParams(shape), kvElements(shape)];
    return {
      embedding_params: counts.embedding,
      layer_matmul_params_active: counts.layer_matmul_active,
      head_matmul_params: counts.head_matmul,
      decode_read_params: counts.decode_read,
      kv_elements_per_token_full_layers: kv.full,
      kv_elements_per_token_sliding_layers: kv.sliding,
    };
  },
};

const acceleratorKind: Kind<CatalogueAccelerator> = {
  name: 'accelerators',
  entries: ({ accelerators }) => accelerators,
  find: findAccelerator,
  header: ['id', 'memory (GiB)', 'GB/s', 'fastest dense peak (TFLOP/s)', 'limit (W)', 'released'],
  row: (device) => [
    device.id,
    starred(device, 'memory_bytes', scaled(device.memory_bytes, 2 ** 30, 0)),
    starred(device, 'memory_bandwidth_bytes_per_s', scaled(device.memory_bandwidth_bytes_per_s, 1e9, 0)),
    peakText(device),
    starred(device, 'power_limit_w', scaled(device.power_limit_w, 1, 0)),
    starred(device, 'release_date', device.release_date),
  ],
  derived: () => ({}),
};

/** The fastest peak that is listed, with its type. */
function peakText(device: CatalogueAccelerator): string {
  const listed = numberTypes.flatMap((type) => {
    const peak = device.peak_flop_per_s[type];
    return peak === null ? [] : [{ type, peak }];
  });
  if (listed.length === 0) return '–';
  const { type, peak } = listed.reduce((best, each) => (each.peak > best.peak ? each : best));
  return starred(device, `peak_flop_per_s.${type}`, `${(peak / 1e12).toFixed(1)} ${type}`);
}
