import type { Needs, Strategy } from '@perwatt/core';
import { pages } from './pages.js';

/** The page of one strategy in Markdown. */
export function strategyPage(strategy: Strategy): string {
  const { title, picture, protocol, costs, source } = pages[strategy.id] ?? {
    title: strategy.id,
    picture: '',
    protocol: strategy.summary,
    costs: '',
    source: null,
  };
  const rows = (strategy.params.describe?.() ?? []).map(
    ({ name, type, default: value, summary }) =>
      `| \`${name}\` | ${cell(type)} | ${value === null ? '–' : `\`${cell(value)}\``} | ${cell(summary)} |`,
  );
  return `# ${title}

<!-- Made from the sources by \`npm run docs:strategies\`; change them there. -->

\`${strategy.id}\` (version ${strategy.version}): ${strategy.summary}.

\`\`\`text
${picture}
\`\`\`

${protocol}

**Costs.** ${costs}

**Needs.** ${needsText(strategy.needs(strategy.params.parse(exampleParams[strategy.id] ?? {})))}

**Source.** ${source ?? 'none'}

| parameter | value | default | what it does |
|---|---|---|---|
${rows.join('\n')}
`;
}

/** Parameters without a default, as an example gives them. */
const exampleParams: Readonly<Record<string, object>> = { route_learned: { router: 'router.json' } };

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** What a strategy needs with its default parameters, in words. */
export function needsText({ endpoints, ...needs }: Needs): string {
  const others = [
    needs.completions === true && 'bare completions',
    needs.tools === true && 'tool calls',
    needs.logprobs === true && 'log-probabilities',
    needs.oracle === true && 'the data set’s grader as an oracle',
    needs.environment === true && 'a world',
    needs.language === true && 'a safe language',
    needs.router !== undefined && 'a fitted router',
  ].filter((need) => need !== false);
  return `Endpoints ${endpoints.map((name) => `\`${name}\``).join(', ')}${others.length === 0 ? '' : `; ${others.join(', ')}`}.`;
}

/** The list of strategies in Markdown, with what all of them share. */
export const strategyIndex = (all: readonly Strategy[]): string => `# Strategies

<!-- Made from the sources by \`npm run docs:strategies\`; change them there. -->

A strategy is a way to spend calls on an item. It names calls and is given their results; it never sends anything itself, so that
a query can be replayed exactly from its record. \`perwatt strategies show ID\` prints a page.

| strategy | what it does |
|---|---|
${all.map(({ id, summary }) => `| [\`${id}\`](strategies/${id}.md) | ${cell(summary)} |`).join('\n')}

**In a matrix.** Parameters stand beside the name:

\`\`\`yaml
name: ways
axes:
  model: [{ id: smollm2-135m }]
  accelerator: [{ id: cpu }]
  dataset: [{ id: sums, kind: arithmetic, limit: 20 }]
  strategy:
    - { id: single }
    - { id: sc5, kind: self_consistency, attempts: 5 }
    - { id: frugal, kind: self_consistency, attempts: 9, budget: { tokens: 100 } }
\`\`\`

**Endpoints.** A strategy calls its models by logical names: \`main\` is the model of the axis, others (\`strong\`, \`weak\`,
\`verifier\` …) are bound by \`bind\`, each with its own ledger of tokens and energy: see [the matrix](matrix.md).

**Budgets.** \`budget\` limits what a query may spend: \`calls\`, \`tokens\` (of output; calls are shortened to what is left), \`seconds\`
and \`joules\` (at one query in flight only). Calls beyond it are not sent; the strategy ends with what it has, and its decision says how
many were withheld.

**What a query takes.** Results have, as means over queries with their intervals, \`calls_per_query\`, \`max_parallel\` (most calls in flight at one
moment), prompt and output tokens, \`sequential_tokens\` (output tokens on the longest chain of calls that had to follow one another: the floor of
latency), \`cached_tokens_per_query\` (as the server says) and \`billed_once_tokens\`: prompt tokens with what calls of one prefix have in common
counted once, which a perfect prefix cache would leave to compute. Calls of an item share its prefix; so do the items of a group of the data set
\`shared-prefix\`. The table \`calls\` has \`prefix_key\` and \`shared_prefix_tokens\`.

**Oracles.** \`repeated_sampling\`, and \`verifier: oracle\`, look at the gold answer: their accuracy is an upper bound, not a result.
`;
