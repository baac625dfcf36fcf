import { parseMatrix } from '@perwatt/harness';
import { expect, test } from 'vitest';
import { type CellOfReplicate, type Judged, judged, replicate, trueAccuracy } from './fleet.fixture.js';
import { matrices } from './fleet-coverage.fixture.js';

const FULL = process.env['PERWATT_FULL'] === '1';
/** Runs of each of the two fleets. */
const REPLICATES = FULL ? 1_000 : 50;
const BAND = [0.93, 0.97] as const;

type Totals = CellOfReplicate['exact'];

const sum = (own: readonly CellOfReplicate[], key: keyof Totals): number =>
  own.reduce((total, { exact }) => total + exact[key], 0);

/** True figures of one cell: accuracy by its laws, energy by a meter that never errs, over all replicates. */
function truthsOf(own: readonly CellOfReplicate[], accuracy: number): Readonly<Record<Judged, number>> {
  const energy_j = sum(own, 'energy_j');
  return {
    accuracy,
    energy_per_query_j: energy_j / sum(own, 'queries'),
    ipw_per_w: (accuracy * sum(own, 'busy_s')) / energy_j,
    prefill_energy_per_prompt_token_j: sum(own, 'prefill_j') / sum(own, 'prompt_tokens'),
    decode_energy_per_output_token_j: sum(own, 'decode_j') / sum(own, 'decoded_tokens'),
  };
}

interface Covered {
  readonly cell: string;
  readonly figure: Judged;
  readonly held: number;
  readonly of: number;
}

/** How often the 95 % sampling interval of each figure of a cell held its true value. */
function coveredBy(own: readonly CellOfReplicate[], truths: ReturnType<typeof truthsOf>): Covered[] {
  return judged.map((figure) => {
    const held = own.filter(({ figures }) => {
      const { sampling_lo, sampling_hi } = figures[figure];
      return (
        sampling_lo !== null &&
        sampling_hi !== null &&
        sampling_lo <= truths[figure] &&
        truths[figure] <= sampling_hi
      );
    }).length;
    return { cell: own[0]?.name ?? '', figure, held, of: own.length };
  });
}

/** Energy of a token by the laws alone, where no two calls overlap: both noises have mean 1. */
const laws = {
  'small edge c1': { prefill: (15 * 2) / 1000, decode: 10 * (2 / 100 + 2 / 1000) },
  'large rack c1': { prefill: (390 * 16) / 7000, decode: 250 * (8 / 400 + 16 / 7000) },
} as const;

/** Every cell of many runs of one matrix. */
async function cellsOf(text: string): Promise<Map<string, CellOfReplicate[]>> {
  const byCell = new Map<string, CellOfReplicate[]>();
  for (let seed = 1; seed <= REPLICATES; seed++) {
    for (const cell of await replicate(text, seed))
      byCell.set(cell.name, [...(byCell.get(cell.name) ?? []), cell]);
  }
  return byCell;
}

/** The meter that never errs agrees with the laws, within what the runs' noise leaves open. */
function agreesWithLaws(name: string, truths: ReturnType<typeof truthsOf>): void {
  const law = Object.entries(laws).find(([cell]) => cell === name)?.[1];
  if (law === undefined) return;
  const within = 5 * (0.05 / Math.sqrt(3 * REPLICATES));
  expect(Math.abs(truths.prefill_energy_per_prompt_token_j / law.prefill - 1)).toBeLessThan(within);
  expect(Math.abs(truths.decode_energy_per_output_token_j / law.decode - 1)).toBeLessThan(within);
}

async function coveredOf(text: string): Promise<Covered[]> {
  const { simulate, axes } = parseMatrix(text, 'coverage.yaml');
  const accuracy = trueAccuracy(simulate!, axes.model[0]!.id, 'sums');
  return [...(await cellsOf(text))].flatMap(([name, own]) => {
    const truths = truthsOf(own, accuracy);
    agreesWithLaws(name, truths);
    return coveredBy(own, truths);
  });
}

function shareOf(figure: Judged, covered: readonly Covered[]) {
  const own = covered.filter((each) => each.figure === figure);
  const of = own.reduce((total, each) => total + each.of, 0);
  const share = own.reduce((total, each) => total + each.held, 0) / of;
  const cells = own.map((each) => `${each.cell} ${(each.held / each.of).toFixed(3)}`).join(', ');
  process.stdout.write(`${figure}: ${share.toFixed(4)} of ${of} (${cells})\n`);
  return { figure, share, of };
}

test(
  `the 95 % intervals of a simulated fleet hold the truth in 93 to 97 of 100, over ${2 * REPLICATES} runs`,
  async () => {
    const covered: Covered[] = [];
    for (const text of Object.values(matrices)) covered.push(...(await coveredOf(text)));
    for (const { figure, share, of } of judged.map((each) => shareOf(each, covered))) {
      const slack = FULL ? 0 : 3 * Math.sqrt((0.95 * 0.05) / of);
      expect(share, figure).toBeGreaterThanOrEqual(BAND[0] - slack);
      expect(share, figure).toBeLessThanOrEqual(BAND[1] + slack);
    }
  },
  FULL ? 21_600_000 : 1_200_000,
);
