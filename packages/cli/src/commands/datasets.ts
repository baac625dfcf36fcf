import type { WeightsWorld } from '@perwatt/clients';
import { type CatalogueEntry, datasetCatalogue } from '@perwatt/datasets';
import { Command } from 'commander';
import { pulledSplit } from '../datasets-store.js';
import type { Io } from '../io.js';
import { pullCommand } from './datasets-pull.js';
import { showCommand } from './datasets-show.js';
import { verifyCommand } from './datasets-verify.js';

const examples = `
Examples:
  perwatt datasets list
  perwatt datasets pull gsm8k
  perwatt datasets show arithmetic --level 1 --items 5
  perwatt datasets show choice-basic --seed 7 --json
  perwatt datasets show gsm8k --path test.jsonl
  perwatt datasets show csv --path quiz.csv --option 'fields={"prompt": "question", "gold": "answer"}'
  perwatt datasets verify

docs/datasets.md has the card of every published data set.`;

/** `perwatt datasets`: what questions there are. `world` replaces parts of the hub's in tests. */
export const datasetsCommand = (io: Io, world: Partial<WeightsWorld> = {}): Command =>
  new Command('datasets')
    .description('List data sets, fetch and check their files, and show their questions')
    .addHelpText('after', examples)
    .addCommand(listCommand(io))
    .addCommand(pullCommand(io, world))
    .addCommand(showCommand(io))
    .addCommand(verifyCommand(io));

/** Whether a data set can be used as it is: `present` names the splits that were pulled. */
interface ListedSet {
  readonly state: 'generated' | 'present' | 'gated' | 'absent' | 'loader';
  readonly splits: readonly string[];
}

function stateOf({ kind, card }: CatalogueEntry, io: Io): ListedSet {
  if (kind === 'generated') return { state: 'generated', splits: [] };
  if (card === undefined) return { state: 'loader', splits: [] };
  const splits = Object.keys(card.splits).filter((split) => pulledSplit(card.id, split, io) !== null);
  if (splits.length > 0) return { state: 'present', splits };
  return { state: card.hub?.gated === true ? 'gated' : 'absent', splits };
}

const listCommand = (io: Io) =>
  new Command('list')
    .description(
      'List the data sets with their state: generated, present (pulled), absent, gated (needs an account), or a file loader',
    )
    .option('--json', 'print JSON instead of a table')
    .action((flags: { readonly json?: boolean }) => {
      const entries = datasetCatalogue().map((entry) => ({ ...entry, ...stateOf(entry, io) }));
      if (flags.json) return io.print(JSON.stringify(entries, null, 2));
      for (const { id, state, splits, grader, summary } of entries) {
        const where = splits.length === 0 ? state : `${state} (${splits.join(', ')})`;
        io.print(`${id.padEnd(18)} ${where.padEnd(16)} ${grader.padEnd(13)} ${summary}`);
      }
    });
