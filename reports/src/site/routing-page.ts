import { PerwattError } from '@perwatt/core';
import { type RouteResult, shippedPrices } from '@perwatt/metrics';
import { type RouteGroup, routeGroups } from '../compare/route-data.js';
import { type RouterKind, type RouteTable, routerKinds, routeTable } from '../compare/route-table.js';
import { routeBlock } from '../compare/route-text.js';
import type { Figure } from '../figure.js';
import { type Html, html } from '../html.js';
import { blockHtml } from './block-html.js';
import { figureBlock } from './figure-block.js';
import { isSmall } from './site-comparable.js';
import type { Site } from './site-model.js';
import type { SitePage } from './site-page.js';
import { plain } from './site-parts.js';

const SEED = 0;
/** Items above which curves are left out: each of their points is a bootstrap of its own. */
const MOST_CURVE_ITEMS = 3_000;
/** Queries of a run above which nothing is routed. */
const MOST_ROUTED = 40_000;

const question = (routers: readonly RouterKind[], accuracy: number, strong_share: number) => ({
  resource: 'energy_j' as const,
  routers,
  accuracy,
  strong_share,
  seed: SEED,
});

/** The routers of a kind at several settings, as points of one curve. */
function curveOf(group: RouteGroup, kind: 'accurate' | 'random' | 'threshold'): RouteResult[] {
  const settings = kind === 'accurate' ? [0.6, 0.7, 0.8, 0.9, 1] : [0, 0.25, 0.5, 0.75, 1];
  return settings.flatMap((at) => {
    const table = routeTable(
      group,
      kind === 'accurate' ? question([kind], at, 0.5) : question([kind], 0.8, at),
    );
    const own = table.rows.filter(({ router }) => styleOf(router) === kind);
    return kind === 'accurate' ? own.slice(0, 1) : own;
  });
}

const styles = {
  single: { symbol: 'square', color: '#8c8c8c' },
  oracle: { symbol: 'star', color: '#2aa876' },
  accurate: { symbol: 'circle', color: '#3b82d6' },
  random: { symbol: 'x', color: '#a5813c' },
  threshold: { symbol: 'diamond', color: '#c25aa8' },
  learned: { symbol: 'triangle-up', color: '#e07b22' },
} as const;

const half = (value: number | null, bound: number | null): number =>
  value === null || bound === null ? 0 : Math.abs(bound - value);

function traceOf(name: string, rows: readonly RouteResult[], style: keyof typeof styles): object[] {
  const known = rows.filter(({ saving, accuracy }) => saving !== null && accuracy !== null);
  if (known.length === 0) return [];
  const { symbol, color } = styles[style];
  const line = known.length > 1 && style !== 'single';
  const sorted = line ? known.toSorted((a, b) => (a.saving ?? 0) - (b.saving ?? 0)) : known;
  const bars = (value: 'saving' | 'accuracy') => ({
    type: 'data',
    symmetric: false,
    array: sorted.map((row) => half(row[value], row[`${value}_hi`])),
    arrayminus: sorted.map((row) => half(row[value], row[`${value}_lo`])),
    thickness: 1,
    width: 3,
    color: `${color}88`,
  });
  return [
    {
      type: 'scatter',
      mode: line ? 'lines+markers' : 'markers',
      name: plain(name),
      x: sorted.map(({ saving }) => saving),
      y: sorted.map(({ accuracy }) => accuracy),
      ...(line ? {} : { error_x: bars('saving') }),
      error_y: bars('accuracy'),
      customdata: sorted.map(({ router }) => plain(router)),
      hovertemplate: '%{customdata}<br>saves %{x:.1%} at accuracy %{y:.1%}<extra></extra>',
      line: { width: 1.5, color },
      marker: { size: style === 'oracle' ? 14 : 9, symbol, color },
    },
  ];
}

/** The kind of a router by how `routeTable` names its rows. */
function styleOf(router: string): keyof typeof styles {
  if (router.startsWith('all to ')) return 'single';
  const kinds = ['oracle', 'random', 'threshold', 'learned'] as const;
  return kinds.find((kind) => router.startsWith(kind)) ?? 'accurate';
}

function routingFigure(group: RouteGroup, table: RouteTable, id: string): Figure {
  const items = group.items.get(table.chosen_repeat)?.length ?? 0;
  const curves = items <= MOST_CURVE_ITEMS;
  const points = table.rows.map((row) => ({ row, style: styleOf(row.router) }));
  const drawn = new Set<string>(curves ? ['accurate', 'random', 'threshold'] : []);
  return {
    id,
    data: [
      ...points.flatMap(({ row, style }) => (drawn.has(style) ? [] : traceOf(row.router, [row], style))),
      ...(curves
        ? [
            ...traceOf(
              'router of 60 to 100 % accuracy, misroutes to the strong model',
              curveOf(group, 'accurate'),
              'accurate',
            ),
            ...traceOf('random, 0 to 100 % to the strong model', curveOf(group, 'random'), 'random'),
            ...traceOf(
              'by prompt length, 0 to 100 % to the strong model',
              curveOf(group, 'threshold'),
              'threshold',
            ),
          ]
        : []),
    ],
    layout: {
      xaxis: { title: { text: `Energy saved against ${plain(table.strong)}` }, tickformat: '.0%' },
      yaxis: { title: { text: 'Accuracy' }, tickformat: '.0%', rangemode: 'tozero' },
    },
  };
}

interface Routed {
  readonly title: string;
  readonly group: RouteGroup;
  readonly table: RouteTable | string;
}

function routedOf(title: string, group: RouteGroup): Routed {
  try {
    return { title, group, table: routeTable(group, question(routerKinds, 0.8, 0.5)) };
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'INPUT_INVALID')
      return { title, group, table: error.message };
    throw error;
  }
}

function allRouted({ runs, catalogue }: Site): Routed[] {
  return runs.flatMap((own) => {
    const models = new Set(own.results.cells.map(({ point }) => point.model));
    if (own.run === null || models.size < 2 || !isSmall(own, MOST_ROUTED)) return [];
    const groups = routeGroups(own.run, { catalogue, prices: shippedPrices() });
    const run = runs.length > 1 ? ` (${own.results.run_id})` : '';
    return groups.map((group) =>
      routedOf(`${[group.accelerator, group.strategy, group.load].join(' · ')}${run}`, group),
    );
  });
}

/** What sending each question to the right model would save, at which accuracy; null where no two models can be routed among. */
export function routingPage(site: Site): SitePage | null {
  const routed = allRouted(site);
  if (routed.length === 0) return null;
  const figures: Figure[] = [];
  const sections = routed.map(({ title, group, table }, i): Html => {
    if (typeof table === 'string')
      return html`<section><h2>${title}</h2><p class="note">Not routed: ${table}.</p></section>`;
    const figure = routingFigure(group, table, `routing-${i}`);
    figures.push(figure);
    return html`${figureBlock(figure, { title, note: 'To the right and up is better. A saving never stands without the accuracy it comes at; vertical bars are 95 % intervals over questions.' })}<details open><summary>Table</summary>${blockHtml(routeBlock(table), `Routers: ${title}`)}</details>`;
  });
  return {
    id: 'routing',
    title: 'Routing',
    body: html`<p class="lead">What sending each question to the right model would have saved, and at which accuracy. Coverage is the share of questions that at least one model gets right: no router reaches more.</p>
<p class="soft small">The oracle knows which model will be right and takes the cheapest; no router does. Routes are chosen on one repeat and scored on another where there are two; with one the figures flatter and say so.</p>
${sections}`,
    figures,
  };
}
