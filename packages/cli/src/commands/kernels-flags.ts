import {
  type ActivationType,
  activationTypes,
  kernelNames,
  kernelTypes,
  PerwattError,
  type WeightType,
  weightTypes,
} from '@perwatt/core';
import { type KernelSpec, type ModelStep, parseSpec, type SpecChoice } from '@perwatt/kernels';
import { type Catalogue, type CatalogueModel, findModel } from '@perwatt/metrics';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../duration.js';

/** Flags that choose kernels, types and devices. */
export interface ChoiceFlags {
  readonly device?: readonly string[];
  readonly kernel?: readonly KernelSpec['kind'][];
  readonly dtype?: readonly KernelSpec['dtype'][];
  readonly deadline: number;
  readonly json?: boolean;
}

/** Flags of kernels that a model is made of. */
export interface ModelFlags {
  readonly model?: readonly string[];
  readonly batch: readonly number[];
  readonly context: readonly number[];
  readonly phase: ModelStep['phase'] | 'both';
  readonly weights: WeightType;
  readonly headWeights?: WeightType;
  readonly activations?: ActivationType;
  readonly catalogue?: string;
}

/** Which of the standard kernels flags ask for. */
export const choiceOf = ({
  kernel: kinds,
  dtype: types,
}: Pick<ChoiceFlags, 'kernel' | 'dtype'>): SpecChoice => ({
  ...(kinds && { kinds }),
  ...(types && { types }),
});

/** A list of words parted by commas, each one of `choices`. */
const listOf =
  <T extends string>(choices: readonly T[]) =>
  (text: string): T[] =>
    text.split(',').map((word) => {
      const found = choices.find((choice) => choice === word.trim());
      if (found === undefined) throw new InvalidArgumentError(`"${word}" is none of ${choices.join(', ')}`);
      return found;
    });

/** Counts parted by commas, `k` for 1024: `1k,8k`. */
export const countList = (text: string): number[] =>
  text.split(',').map((word) => {
    const [, digits = '', k = ''] = /^\s*(\d{1,8})(k?)\s*$/i.exec(word) ?? [];
    const value = Number(digits) * (k === '' ? 1 : 1024);
    if (digits === '' || value < 1 || value > 2 ** 31)
      throw new InvalidArgumentError(`"${word}" is no count; write them like 1,8,64 or 1k,8k`);
    return value;
  });

const words = (text: string, before: readonly string[] = []): string[] => [...before, ...text.split(',')];

/** Silence after which a driver is taken to hang. */
const DEADLINE_MS = 180_000;

/** Adds the flags that choose devices, kernels and types. */
export const withChoice = (command: Command): Command =>
  command
    .option(
      '--device <ids>',
      'devices, by ids of `perwatt kernels list`; default: all but software drivers',
      words,
    )
    .addOption(new Option('--kernel <names>', `of ${kernelNames.join(', ')}`).argParser(listOf(kernelNames)))
    .addOption(new Option('--dtype <types>', `of ${kernelTypes.join(', ')}`).argParser(listOf(kernelTypes)))
    .addOption(
      new Option('--deadline <time>', 'silence after which a driver is taken to hang, and is replaced')
        .argParser(parseDuration)
        .default(DEADLINE_MS, '180s'),
    )
    .option('--json', 'print JSON');

/** Adds the flags that name models and what their steps are like. */
export const withModels = (command: Command): Command =>
  command
    .option('--model <names>', 'kernels of these models, by names of the catalogue', words)
    .addOption(new Option('--batch <counts>', 'sequences of a step').argParser(countList).default([1], '1'))
    .addOption(
      new Option('--context <counts>', 'tokens that a step attends to, or of the prompt')
        .argParser(countList)
        .default([1024], '1k'),
    )
    .addOption(new Option('--phase <phase>', 'step').choices(['decode', 'prefill', 'both']).default('decode'))
    .addOption(new Option('--weights <type>', 'type of the weights').choices(weightTypes).default('f16'))
    .addOption(
      new Option('--head-weights <type>', "type of the head's weights; default: as the others").choices(
        weightTypes,
      ),
    )
    .addOption(
      new Option(
        '--activations <type>',
        'type of activations and cache; default: that of floating weights, else f16',
      ).choices(activationTypes),
    )
    .option('--catalogue <path>', 'file with models of your own');

/** Kernels by hand, as `parseSpec` reads them. */
export const specList = (text: string, before: readonly KernelSpec[] = []): KernelSpec[] => [
  ...before,
  parseSpec(text),
];

/** A step of a model with the names it goes by. */
export interface NamedStep extends ModelStep {
  readonly names: readonly string[];
}

/** Where the sizes of models are looked up. */
export interface ModelPlace {
  readonly catalogue: Catalogue;
  /** Further names of a model, its weight file's for example. */
  readonly alsoCalled: (name: string) => readonly string[];
}

/** The steps that flags or a matrix ask for. Throws `INPUT_INVALID` for a model whose sizes the catalogue doesn't know. */
export function stepsOf(flags: Omit<ModelFlags, 'catalogue'>, place: ModelPlace): NamedStep[] {
  const { weights, headWeights, activations } = flags;
  const phases = flags.phase === 'both' ? (['decode', 'prefill'] as const) : [flags.phase];
  return (flags.model ?? []).flatMap((name) => {
    const { id, facts } = factsOf(name, place);
    return phases.flatMap((phase) =>
      flags.batch.flatMap((batch) =>
        flags.context.map((context) => ({
          model: id,
          names: [name],
          facts,
          phase,
          batch,
          context,
          weights,
          ...(headWeights && { head_weights: headWeights }),
          ...(activations && { activations }),
        })),
      ),
    );
  });
}

/** The catalogue's entry of a model, by any of its names, if its sizes are known. */
export const knownModel = (name: string, { catalogue, alsoCalled }: ModelPlace): CatalogueModel | null =>
  [name, ...alsoCalled(name)]
    .map((own) => findModel(catalogue, own).entry)
    .find((entry) => entry?.shape != null) ?? null;

function factsOf(name: string, place: ModelPlace) {
  const entry = knownModel(name, place);
  if (entry?.shape != null) return { id: entry.id, facts: entry.shape };
  const { catalogue } = place;
  const found = findModel(catalogue, name);
  const known = catalogue.models.filter(({ shape }) => shape !== null).map(({ id }) => id);
  const nothing = found.reason ?? `"${name}" has no entry`;
  const why = found.entry === null ? nothing : `the sizes of ${found.entry.id} are not known`;
  const meant = found.near.length > 0 ? `; near it: ${found.near.join(', ')}` : '';
  throw new PerwattError('INPUT_INVALID', `no kernels of model "${name}": ${why}${meant}`, {
    hint: `Name one of ${known.join(', ')}, or give sizes of your own with \`--catalogue\`.`,
  });
}
