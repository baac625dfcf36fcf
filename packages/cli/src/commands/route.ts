import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, PerwattError, systemCode } from '@perwatt/core';
import { type PriceFile, parsePriceFile, type Resource, shippedPrices } from '@perwatt/metrics';
import { openRun } from '@perwatt/records';
import {
  type RouteQuestion,
  type RouterKind,
  type RouteTable,
  routeBlock,
  routeGroups,
  routerKinds,
  routeTable,
} from '@perwatt/reports';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from '../io.js';
import { catalogueWith, commaList, gridLines, readText } from '../open-comparable.js';

interface RouteFlags {
  readonly models?: string;
  readonly resource: 'energy' | 'compute' | 'cost';
  readonly prices?: string;
  readonly catalogue?: string;
  readonly accuracy: number;
  readonly router?: readonly RouterKind[];
  readonly strong?: string;
  readonly weak?: string;
  readonly strongShare: number;
  readonly seed: number;
  readonly out?: string;
  readonly json?: boolean;
}

const resourceOf: Readonly<Record<RouteFlags['resource'], Resource>> = {
  energy: 'energy_j',
  compute: 'flop',
  cost: 'cost_usd',
};

const examples = `
A saving never stands without the accuracy it comes at. Routes are chosen by the first repeat and scored on the second; with
one repeat the figures are optimistic and say so. Misroutes of the accurate router go to the strong model, to the cheapest
or to any other: three rows, since they cost different things.

Compute needs models that the catalogue knows (\`perwatt catalogue\`), cost a price of each (--prices).

Examples:
  perwatt route runs/<id>
  perwatt route runs/<id> --models qwen3-4b,qwen3-32b --resource compute --accuracy 0.6
  perwatt route runs/<id> --resource cost --prices prices.yaml --json
  perwatt route runs/<id> --router learned --strong-share 0.3 --out router.json`;

/** `perwatt route`: what sending each question to the right model would save. */
export const routeCommand = (io: Io): Command =>
  new Command('route')
    .description('Coverage of a set of models, and what routing among them would save at which accuracy')
    .argument('<run>', 'run folder')
    .option('--models <ids>', 'models of the set, parted by commas; default: all')
    .addOption(
      new Option('--resource <name>', 'what is to be saved')
        .choices(['energy', 'compute', 'cost'])
        .default('energy'),
    )
    .option('--prices <file>', 'your own token prices (YAML or JSON), in USD')
    .option('--catalogue <file>', 'your own models')
    .option('--accuracy <share>', 'accuracy of the accurate router, 0 to 1', share, 0.8)
    .addOption(new Option('--router <kinds...>', 'routers; default: all').choices(routerKinds))
    .option('--strong <model>', 'where unrouted questions go; default: the model right most often')
    .option('--weak <model>', 'the cheap one of a pair; default: the cheapest')
    .option('--strong-share <share>', 'share of questions for the strong model', share, 0.5)
    .option('--seed <n>', 'seed of splits and draws', wholeNumber, 0)
    .option('--out <file>', 'write the learned router, for strategies to use')
    .option('--json', 'print JSON')
    .addHelpText('after', examples)
    .action((path: string, flags: RouteFlags) => route(path, flags, io));

function share(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new InvalidArgumentError('give a number from 0 to 1');
  return value;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('give a whole number from 0');
  return value;
}

function pricesFrom(file: string | undefined, cwd: string): PriceFile {
  const prices = file === undefined ? shippedPrices() : parsePriceFile({ text: readText(file, cwd), file });
  if (prices.currency !== 'USD')
    throw new PerwattError('INPUT_INVALID', `prices in ${prices.currency}; routing counts in USD`);
  return prices;
}

function questionOf(flags: RouteFlags): RouteQuestion {
  return {
    resource: resourceOf[flags.resource],
    routers: flags.router ?? routerKinds,
    accuracy: flags.accuracy,
    strong_share: flags.strongShare,
    seed: flags.seed,
    ...(flags.strong === undefined ? {} : { strong: flags.strong }),
    ...(flags.weak === undefined ? {} : { weak: flags.weak }),
  };
}

function route(path: string, flags: RouteFlags, io: Io): void {
  const models = commaList(flags.models);
  const groups = routeGroups(openRun(resolve(io.cwd, path)), {
    catalogue: catalogueWith(flags.catalogue, io.cwd),
    prices: pricesFrom(flags.prices, io.cwd),
    ...(models === undefined ? {} : { models }),
  });
  if (groups.length === 0)
    throw new PerwattError('INPUT_INVALID', `no two models in ${path} share accelerator, strategy and load`, {
      hint: 'Route over a run with at least two finished models; `--models` may name too few.',
    });
  const tables = groups.map((group) => routeTable(group, questionOf(flags)));
  if (flags.out !== undefined) writeRouter(tables, flags.out, io);
  const lines =
    flags.json === true
      ? [JSON.stringify(tables, null, 2)]
      : tables.flatMap((table, i) => linesOf(table, i, io));
  for (const line of lines) io.print(line);
}

function linesOf(table: RouteTable, i: number, io: Io): string[] {
  const { head, grid, notes } = routeBlock(table);
  return [...(i > 0 ? [''] : []), ...head, ...gridLines(grid, io), ...notes];
}

/** Writes the first group's learned router. Throws where there is none, with the reason. */
function writeRouter(tables: readonly RouteTable[], out: string, io: Io): void {
  const found = tables.find(({ learned }) => learned !== null);
  const model = found?.learned?.model;
  if (found === undefined || model === undefined) {
    const why = tables.flatMap(({ notes }) => notes.filter((note) => note.startsWith('no learned')));
    throw new PerwattError(
      'INPUT_INVALID',
      why[0] ?? 'no learned router to write: add `learned` to --router',
    );
  }
  const file = resolve(io.cwd, out);
  try {
    writeFileSync(file, `${JSON.stringify(model, null, 2)}\n`);
  } catch (error) {
    throw new PerwattError(
      'FILE_UNREADABLE',
      `cannot write ${out}: ${systemCode(error) ?? messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
  io.printError(`router of ${found.group}: ${file}`);
}
