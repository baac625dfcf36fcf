import { type RecipeText, recipeTexts } from './pages.js';
import type { Recipe } from './recipe.js';

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The page of one recipe in Markdown. */
export function recipePage(recipe: Recipe): string {
  const { id, version, title, summary, claims, parameters, effort, serve } = recipe;
  const { picture, method, problem, reading, measured, source }: RecipeText = recipeTexts[id] ?? {
    picture: '',
    method: summary,
    problem: '',
    reading: '',
    source: null,
  };
  const shown = (status: 'supported' | 'not_supported') =>
    claims
      .filter((claim) => claim.status === status)
      .map(({ text, note }) => `- ${text}${note === undefined ? '' : `\n  <br>*${note}*`}`);
  const section = (head: string, lines: readonly string[]) =>
    lines.length === 0 ? '' : `**${head}**\n\n${lines.join('\n')}\n\n`;
  return `# ${title}

<!-- Made from the sources by \`npm run docs:recipes\`; change them there. -->

\`${id}\` (version ${version}): ${summary}.

\`\`\`text
${picture}
\`\`\`

${method}

**The problem, and why it is an honest one.** ${problem}

**What it shows, and what it can't.** ${reading}

${section('Claimed, and asserted by its tests.', shown('supported'))}${section('Not supported.', shown('not_supported'))}${section('Measured.', measured === undefined ? [] : [measured])}**Effort.** Its curves are drawn over ${effort === 'env_actions' ? 'environment actions' : 'tokens'}, CPU time and joules.

**As an endpoint.** ${serve === undefined ? 'Its model is a router: `route_learned` takes its file.' : `\`recipe:${id}@<checkpoint>\` answers its items, which \`perwatt train\` keeps as \`items-<training>.jsonl\` beside the tables.`}

**Source.** ${source ?? 'none: a baseline'}

| parameter | default | what it does |
|---|---|---|
${parameters.map((own) => `| \`${own.name}\` | \`${own.default}\` | ${cell(own.summary)} |`).join('\n')}
`;
}

/** The list of recipes in Markdown, with what all of them share. */
export const recipeIndex = (all: readonly Recipe[]): string => `# Training recipes

<!-- Made from the sources by \`npm run docs:recipes\`; change them there. -->

A recipe trains a small real policy within this process, with power sampled all the while: it says what a point of accuracy costs in
joules, and after how many queries training has paid for itself. The policies are tables, and one is a small transformer; the
problems are made up and known exactly; what they show is how a method works, not how large its effect on a language model is.

| recipe | what it does |
|---|---|
${all.map(({ id, summary }) => `| [\`${id}\`](recipes/${id}.md) | ${cell(summary)} |`).join('\n')}

## Running one

\`\`\`sh
perwatt train list                                  # recipes with their parameters
perwatt train ovcsd --seeds 4                       # rows, power and checkpoints in runs/<time>-train-ovcsd
perwatt train selfcest --set delegation=off         # an ablation
perwatt train examples/training.yaml                # several in one run: the \`train\` section of a matrix
perwatt train --resume runs/<run>                   # go on from the last checkpoints
perwatt train show runs/<run>                       # what it cost and what came of it
perwatt train compare runs/<run>:grpo runs/<run>:ovcsd
perwatt train report runs/<run>                     # learning curves over joules, costs, claims
\`\`\`

Seeds are trained side by side, one after the other in each thread. What is computed depends on recipe, parameters and seed alone: rows
are the same for any number of threads, and a training that was cut short goes on from its checkpoint as it would have. Only times and
joules differ.

## What is counted

- **Training energy**: from the first rollout to the last update, with verification, updates that were taken back, and teachers with
  their replays. Evaluations stand apart, and so do starting threads, counting votes with warming code up, and what belongs to
  none of them. All add up to the meter.
- **Net of the idle host**: the idle host is metered for \`--idle\` seconds before and after (3 unless told), and what it would have drawn
  for the time that a training took is subtracted; threads side by side share that time as they share energy. Null without it. Energy
  per point and break-even are gross.
- **Gain**: accuracy after less before, on the same held-out items. With three seeds or more its 95 % interval is Student's t over the
  seeds' own differences; with fewer it is a bootstrap over items, and the spread between seeds is not in it.
- **Energy per point**: training energy of one seed over the mean gain in percentage points, only where the interval of the gain lies
  above 0; otherwise it reads *no significant gain*.
- **Break-even**: queries after which the training of one seed has paid for itself: its joules over what a query saves against the
  cheapest *untrained* strategy that is as accurate, which is the plurality of 1, 3, 5, 9, 17 or 33 attempts. Null, with the reason,
  where none of them is, or nothing is saved. Policies of \`sat\`, \`ovcsd\`, \`grpo\` and \`unverified_distill\` act in an environment: their
  attempts have no answer to vote on, so that one attempt before training is all they are compared with.
- **Effort to a target**: where the moving average of a seed's accuracy first reaches the target and stays for as many evaluations.
- Threads that work at once share the energy of that time equally. Without a counter joules are estimated from CPU load, marked ~.

## A trained policy as an endpoint

\`recipe:<id>@<checkpoint>\` stands for an address in \`endpoints\` of a matrix, so that the same cells run before and after training;
\`examples/training.yaml\` does so. Its checkpoint before the first step is kept beside the last one. The site of such a run has
a page of the training behind it.

## In a run folder

\`train_steps\` has a row a step, \`train_evals\` one an evaluation with the score of every item, \`power/\` the samples, \`checkpoints/\` the
policies. \`perwatt verify\` checks all of it.
`;
