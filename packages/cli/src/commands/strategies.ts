import { publishedFor } from '@perwatt/metrics';
import { strategies, strategyById, strategyPage } from '@perwatt/strategies';
import { Command } from 'commander';
import type { Io } from '../io.js';
import { textTable } from '../text-table.js';

const examples = `
Examples:
  perwatt strategies list
  perwatt strategies show debate
  perwatt strategies show self_consistency --json

In a matrix: \`axes: { strategy: [{ id: sc5, kind: self_consistency, attempts: 5 }] }\`. Endpoints other than \`main\` are bound to
models by \`bind\`: { id: team, kind: team_vote, bind: { strong: my-large-model, weak: my-small-model } }.`;

const columns = [
  { name: 'strategy', right: false },
  { name: 'what it does', right: false },
];

interface Flags {
  readonly json?: boolean;
}

/** `perwatt strategies`: the ways to spend calls, with their parameters and costs. */
export const strategiesCommand = (io: Io): Command =>
  new Command('strategies')
    .description('List and explain the ways to spend calls on an item')
    .addHelpText('after', examples)
    .addCommand(
      new Command('list')
        .description('Show every strategy')
        .option('--json', 'print JSON')
        .action(({ json }: Flags) => {
          if (json === true)
            return io.print(
              JSON.stringify(
                strategies().map(({ id }) => factsOf(id)),
                null,
                2,
              ),
            );
          const rows = strategies().map(({ id, summary }) => [id, summary]);
          for (const line of textTable(columns, rows, io.columns ?? 160)) io.print(line);
        }),
    )
    .addCommand(
      new Command('show')
        .description('Show one strategy: its protocol, parameters, costs and source')
        .argument('<id>', 'strategy')
        .option('--json', 'print JSON')
        .action((id: string, { json }: Flags) =>
          io.print(
            json === true
              ? JSON.stringify(factsOf(id), null, 2)
              : `${strategyPage(strategyById(id))}\n${publishedText(id)}`,
          ),
        ),
    );

function factsOf(id: string) {
  const strategy = strategyById(id);
  return {
    id,
    version: strategy.version,
    summary: strategy.summary,
    parameters: strategy.params.describe?.() ?? [],
    published: publishedFor(id),
  };
}

/** What others published for the method; never figures of this machine. */
function publishedText(id: string): string {
  const rows = publishedFor(id).map(
    ({ system, model, dataset, cost, value, source, tag }) =>
      `- ${system}, ${model}, ${dataset}: ${value}${cost === null ? '' : `, ${cost}`} (${source}; ${tag})`,
  );
  return rows.length === 0
    ? 'Nothing was published for it that could be read.'
    : `Published by others, without energy:\n${rows.join('\n')}`;
}
