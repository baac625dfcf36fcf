import { type Domain, explainFlag, type PromptFacts } from '@perwatt/core';
import { DASH, formatNanos, formatNumber } from './format.js';
import { type Html, html } from './html.js';
import { tierBadge } from './page-parts.js';
import type { CellResult, RunResults } from './results-types.js';

const orUnknown = (value: string | number | null): string => (value === null ? 'unknown' : String(value));

/** The first cell of every value of an axis: what does not change within it is told once. */
function firstBy(cells: readonly CellResult[], axis: 'model' | 'dataset' | 'strategy'): CellResult[] {
  const seen = new Map<string, CellResult>();
  for (const cell of cells) {
    if (cell.provenance !== null && !seen.has(cell.point[axis])) seen.set(cell.point[axis], cell);
  }
  return [...seen.values()];
}

const code = (text: string | null): Html => (text === null ? html`unknown` : html`<code>${text}</code>`);

const scroll = (label: string, head: readonly string[], rows: readonly Html[]): Html =>
  rows.length === 0
    ? html``
    : html`<h3>${label}</h3><div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${head.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;

function models({ cells }: RunResults): Html {
  const rows = firstBy(cells, 'model').flatMap(({ point, provenance }) => {
    if (provenance === null) return [];
    const { endpoint } = provenance;
    const engine = [endpoint.engine, endpoint.engine_version].filter((part) => part !== null).join(' ');
    const threads = endpoint.threads === null ? '' : `, ${endpoint.threads} threads`;
    return [
      html`<tr><th scope="row">${point.model}</th><td class="name">${endpoint.model}</td><td>${orUnknown(endpoint.quantisation)}</td><td>${engine || 'unknown'}<small>${endpoint.kind}${threads}</small></td><td>${code(endpoint.model_sha256)}</td><td>${code(endpoint.chat_template_sha256)}</td></tr>`,
    ];
  });
  return scroll(
    'Models',
    ['Model', 'Known as', 'Quantisation', 'Engine', 'Weights, sha256', 'Chat template, sha256'],
    rows,
  );
}

const promptText = (prompt: PromptFacts | undefined): string =>
  prompt === undefined ? 'its own' : `${prompt.id}${prompt.shots > 0 ? `, ${prompt.shots} shots` : ''}`;

function datasets({ cells }: RunResults): Html {
  const rows = firstBy(cells, 'dataset').flatMap(({ point, provenance }) => {
    if (provenance === null) return [];
    const { dataset, grader } = provenance;
    const bad = dataset.known_bad ?? 0;
    return [
      html`<tr><th scope="row">${point.dataset}</th><td class="name">${dataset.id} v${dataset.version}</td><td class="n">${dataset.items}${bad > 0 ? html`<small>${bad} with a known bad gold</small>` : html``}</td><td>${promptText(dataset.prompt)}</td><td class="n">${formatNumber(dataset.guess_rate)}</td><td>${dataset.licence}</td><td>${grader.id} v${grader.version}${grader.mode === undefined ? '' : `, ${grader.mode}`}</td><td>${code(dataset.digest)}</td></tr>`,
    ];
  });
  return scroll(
    'Data sets',
    ['Data set', 'Kind', 'Items', 'Prompt', 'Guessing', 'Licence', 'Grader', 'Digest, sha256'],
    rows,
  );
}

function strategies({ cells }: RunResults): Html {
  const rows = firstBy(cells, 'strategy').flatMap(({ point, provenance }) =>
    provenance === null
      ? []
      : [
          html`<tr><th scope="row">${point.strategy}</th><td>${provenance.strategy.id} v${provenance.strategy.version}</td><td><code>${JSON.stringify(provenance.strategy.params) ?? '{}'}</code></td></tr>`,
        ],
  );
  return scroll('Strategies', ['Strategy', 'Kind', 'Parameters'], rows);
}

/** The calibration that the scale error comes from; null when it is the declared one. */
const calibrationText = ({ calibration }: Domain): string | null =>
  calibration === undefined
    ? null
    : `scale error by calibration against ${calibration.against} on ${calibration.date.slice(0, 10)}: scale ${formatNumber(calibration.scale)}, offset ${formatNumber(calibration.offset_w)} W (told, not booked)`;

function power({ power: sources, cells }: RunResults): Html {
  const summed = new Set(cells.flatMap(({ energy }) => energy.boundary?.domains.map(({ id }) => id) ?? []));
  const rows = sources.flatMap(({ source, period_ns, domains }) =>
    domains.map(
      (domain) =>
        html`<tr><th scope="row">${domain.id}<small>${source}</small></th><td>${tierBadge(domain.provenance)}</td><td>${domain.scope}</td><td>${summed.has(domain.id) ? 'yes' : 'no'}</td><td class="n">${formatNanos(period_ns)}</td><td class="n">${formatNanos(domain.update_period_ns)}</td><td class="n">${domain.scale_error_ratio === null ? DASH : formatNumber(domain.scale_error_ratio)}</td><td class="name">${[domain.note, calibrationText(domain)].filter((part) => part !== null).join('; ')}</td></tr>`,
    ),
  );
  return scroll(
    'Power',
    [
      'Domain',
      'Joules are',
      'Scope',
      'In the total',
      'Read every',
      'Sensor renews every',
      'Scale error',
      'Note',
    ],
    rows,
  );
}

/** What the sensors themselves gave reason to doubt. */
function powerFlags({ power: sources }: RunResults): Html {
  const rows = sources.flatMap(({ source, flags }) =>
    flags.map(explainFlag).map(({ domain, text, fix }) => {
      const of = domain === null ? html`` : html`<small>${domain}</small>`;
      return html`<tr><th scope="row">${source}${of}</th><td class="name">${text}</td><td class="name">${fix ?? ''}</td></tr>`;
    }),
  );
  return scroll('What the sensors reported', ['Source', 'What is the matter', 'What would mend it'], rows);
}

function facts(results: RunResults): Html {
  const { host, clocks } = results;
  const entries: [string, string][] = [
    ['Host', `${host.hostname}, ${host.os}, kernel ${host.kernel}`],
    [
      'Processor',
      `${orUnknown(host.cpu)}, ${host.arch}, ${orUnknown(host.cores)} cores, ${host.threads} threads, governor ${orUnknown(host.governor)}`,
    ],
    ['Memory', `${formatNumber(host.memory_bytes / 2 ** 30)} GiB`],
    ['Virtual machine', host.virtual_machine ?? 'no, or not known'],
    [
      'Perwatt',
      `${results.perwatt_version}, Node ${host.node}, metric definitions version ${results.metric_spec_version}`,
    ],
    [
      'Matrix',
      `${results.name}, seed ${results.seed}, protocol ${results.protocol}, sha256 ${results.matrix_sha256}`,
    ],
    ...clocks.map(({ wall_time, at_ns }, i): [string, string] => [
      `Clock, sitting ${i}`,
      `${wall_time} at ${at_ns} ns of the monotonic clock`,
    ]),
  ];
  return html`<dl class="facts">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** What exactly was run: hashes, versions, boundary, host and clock. `name` tells the sections of several runs apart. */
export const provenanceSection = (
  results: RunResults,
  name = '',
): Html => html`<section id="provenance${name === '' ? '' : `-${name}`}"><h2>Provenance${name === '' ? '' : ` of ${name}`}</h2>
${facts(results)}${models(results)}${datasets(results)}${strategies(results)}${power(results)}${powerFlags(results)}</section>`;
