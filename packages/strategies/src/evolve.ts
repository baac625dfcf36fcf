import type {
  CallRequest,
  CallResult,
  Item,
  Outcome,
  SafeLanguage,
  Strategy,
  StrategyContext,
} from '@perwatt/core';
import * as z from 'zod';
import { type Archive, best, choose, type Individual, insert, migrate, newArchive } from './archive.js';
import { askChat, failureOf, hasText, opening, prefixOf } from './attempt.js';
import { applyEdits } from './edits.js';
import { parameters, samplingFields } from './params.js';
import { type Example, examplesOf, fitnessOf, languageOf, programIn } from './programs.js';

/** Parameters of an evolutionary search over programs. */
export const EvolveParams = z.strictObject({
  iterations: z.int().min(1).max(10_000).default(8).describe('Generations of changes'),
  islands: z
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe('Populations that evolve apart; each gets one change a generation'),
  bins: z.int().min(1).max(100).default(10).describe('Cells of each axis of an island’s grid'),
  migrate_every: z.int().min(1).default(5).describe('Generations between migrations'),
  migrate_share: z
    .number()
    .gt(0)
    .max(1)
    .default(0.1)
    .describe('Share of an island’s best that is copied to the next'),
  exploit: z
    .number()
    .min(0)
    .max(1)
    .default(0.7)
    .describe('How often the best is the parent; else any program is'),
  top: z.int().min(0).max(16).default(3).describe('Best programs shown beside the parent'),
  diverse: z.int().min(0).max(16).default(2).describe('Other programs shown beside the parent'),
  stop_at: z.number().gt(0).max(1).default(1).describe('Share of examples at which the search ends'),
  ...samplingFields(0.7),
});
/** Parameters that were checked, defaults filled in. */
export type EvolveParams = z.infer<typeof EvolveParams>;

interface Search {
  readonly item: Item;
  readonly params: EvolveParams;
  readonly context: StrategyContext;
  readonly language: SafeLanguage;
  readonly examples: readonly Example[];
  readonly archive: Archive;
  born: number;
  unapplied: number;
  failed: CallResult | null;
  calls: number;
}

/**
 * Searches for a program that gives the shown outputs: the model writes one, then changes the fittest by SEARCH/REPLACE blocks; an
 * archive keeps the best of each kind on several islands. Programs run in the item's safe language only. A change that does not
 * apply is counted and changes nothing. The answer is the fittest program.
 */
export const evolve: Strategy<EvolveParams> = {
  id: 'evolve',
  version: 1,
  summary: 'evolves programs by a model’s changes and an evaluator’s scores',
  needs: () => ({ endpoints: ['main'], language: true }),
  params: parameters('evolve', EvolveParams),
  calls: ({ iterations, islands }) => islands * (iterations + 1),
  async *run(item, params, context) {
    const examples = examplesOf(item.data);
    if (examples.length === 0)
      return { status: 'failed', reason: 'the item shows no examples to evaluate on', candidates: [] };
    const search: Search = {
      item,
      params,
      context,
      language: languageOf(context),
      examples,
      archive: newArchive(params),
      born: 0,
      unapplied: 0,
      failed: null,
      calls: 0,
    };
    for (const [island, result] of (yield firstCalls(search)).entries())
      settle(search, { island, result, parent: null });
    for (let generation = 1; generation <= params.iterations && !done(search); generation++) {
      const made = changeCalls(search, generation);
      if (made.length === 0) break;
      const results = yield made.map(({ request }) => request);
      for (const [i, { island, parent }] of made.entries())
        settle(search, { island, result: results[i], parent });
      if (generation % params.migrate_every === 0) migrate(search.archive, params.migrate_share);
    }
    return fittest(search);
  },
};

const done = ({ archive, params }: Search): boolean => (best(archive)?.score ?? 0) >= params.stop_at;

const firstCalls = ({ item, params, context, language }: Search): CallRequest[] =>
  Array.from({ length: params.islands }, (_, island) =>
    askChat(
      {
        id: `program-0-${island}`,
        role: 'solver',
        messages: opening(`${language.description}\n\n${item.prompt}`, params.system),
        branch: island,
        prefix_key: prefixOf(item),
      },
      { params, context },
    ),
  );

function changeCalls(search: Search, generation: number) {
  const { params, context, archive } = search;
  return Array.from({ length: params.islands }, (_, island) => island).flatMap((island) => {
    const chosen = choose(archive, island, { rng: context.rng, ...params });
    if (chosen === null) return [];
    const { parent, inspirations } = chosen;
    const request = askChat(
      {
        id: `program-${generation}-${island}`,
        parents: [parent.call_id],
        role: 'solver',
        messages: opening(changePrompt(search, parent, inspirations), params.system),
        round: generation,
        branch: island,
      },
      { params, context },
    );
    return [{ request, island, parent }];
  });
}

function changePrompt(
  { item, language, examples }: Search,
  parent: Individual,
  inspirations: readonly Individual[],
): string {
  const shown = inspirations
    .map(({ program, score }) => `Gives ${percent(score)} of the outputs:\n\`\`\`\n${program}\n\`\`\`\n`)
    .join('\n');
  const { outputs, failure } = fitnessOf(parent.program, examples, language);
  const misses = examples
    .flatMap(({ input, output }, i) =>
      outputs[i] === output
        ? []
        : [`${input} should give ${output}, gave ${outputs[i] ?? `an error (${failure ?? 'unknown'})`}`],
    )
    .slice(0, 3)
    .join('\n');
  return `${language.description}\n\n${item.prompt}\n\n${shown === '' ? '' : `Other programs:\n\n${shown}\n`}Improve this program, which gives ${percent(parent.score)} of the outputs:
\`\`\`
${parent.program}
\`\`\`
${misses === '' ? '' : `It misses:\n${misses}\n`}
Reply only with the changes, each as a block:
<<<<<<< SEARCH
text of the program
=======
text to put in its place
>>>>>>> REPLACE`;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

interface Born {
  readonly island: number;
  readonly result: CallResult | undefined;
  readonly parent: Individual | null;
}

function settle(search: Search, { island, result, parent }: Born): void {
  search.calls += 1;
  if (result === undefined || !hasText(result)) {
    if (result?.finish === 'error') search.failed = result;
    return;
  }
  const program = parent === null ? programIn(result.text) : changed(search, parent, result.text);
  if (program === null) return;
  const { share, outputs } = fitnessOf(program, search.examples, search.language);
  const behaviour = JSON.stringify(outputs);
  const individual = { program, call_id: result.id, score: share, behaviour, born: search.born++ };
  insert(search.archive, island, individual);
}

function changed(search: Search, parent: Individual, text: string): string | null {
  const applied = applyEdits(parent.program, text);
  if (applied.ok) return applied.program;
  search.unapplied += 1;
  return null;
}

function fittest(search: Search): Outcome {
  const winner = best(search.archive);
  if (winner === null) {
    const reason =
      search.failed === null ? 'no call gave a program' : `every call failed: ${failureOf(search.failed)}`;
    return { status: search.failed === null ? 'abstained' : 'failed', reason, candidates: [] };
  }
  return {
    status: 'answered',
    answer: winner.program,
    call_id: null,
    candidates: [],
    decisions: [
      `${percent(winner.score)} of ${search.examples.length} examples after ${search.calls} calls, ${search.unapplied} changes did not apply`,
    ],
  };
}
