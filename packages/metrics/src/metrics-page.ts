import { symbols } from './formula.js';
import { METRIC_SPEC_VERSION, type Metric, metrics } from './metric-definitions.js';

const windows: Readonly<Record<Metric['window'], string>> = {
  busy: 'busy time',
  measured: 'whole windows',
  load: 'the schedule',
  steady: 'steady window',
  queries: 'single queries',
  calls: 'single calls',
};

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}

const rowOf = ({ id, title, unit, better, formula, definition, window, needs }: Metric): string[] => [
  `\`${id}\``,
  title,
  unit,
  better,
  `\`${formula}\``,
  windows[window],
  needs.join(', ') || '–',
  definition,
];

/** `docs/metrics.md`: every metric and every total as they are defined, in Markdown. */
export function metricsPage(): string {
  const heads = ['id', 'title', 'unit', 'better', 'formula', 'over', 'needs', 'definition'];
  const totals = Object.entries(symbols).map(([name, meaning]) => [`\`${name}\``, meaning]);
  return `# Metrics

Version ${METRIC_SPEC_VERSION} of the definitions. This page is made from them by \`npm run docs:metrics\`; the engine evaluates the same formulas. How
each total is measured, and how intervals are made, stands in [method.md](method.md).

A metric that can't be told is null with a reason. \`E\` is gross energy, or what the name says: \`net_\` less the loaded, idle model,
\`net_host_\` less the idle host. Statistics of single queries and calls (\`mean\`, \`p50\`, \`p99\`) are named apart from ratios of totals: they answer
another question. Figures over the busy time exist by repeat; gross ones also by label of the data set, from the energy of
the label's own queries.

## Totals

${table(['total', 'meaning'], totals)}

## Definitions

${table(heads, metrics.map(rowOf))}
`;
}
