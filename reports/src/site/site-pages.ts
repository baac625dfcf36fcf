import type { ComparableCell } from '../compare/comparable.js';
import { kernelsPage } from '../kernels/kernels-page.js';
import { trainingPage } from '../training/training-page.js';
import { trainingsBehind } from '../training/trainings-behind.js';
import { acceleratorsPage } from './accelerators-page.js';
import { loadPage } from './load-page.js';
import { methodPage } from './method-page.js';
import { modelsPage } from './models-page.js';
import { overviewPage } from './overview-page.js';
import { paretoPage } from './pareto-page.js';
import { resultsPage } from './results-page.js';
import { routingPage } from './routing-page.js';
import type { Site } from './site-model.js';
import type { SitePage } from './site-page.js';

/** The pages of a site's navigation, in order; those that a site has nothing for are left out. */
export function sitePages(site: Site, comparables: readonly ComparableCell[]): SitePage[] {
  const kernels = kernelsPage(site.runs);
  const pages: readonly (SitePage | null)[] = [
    overviewPage(site),
    resultsPage(site),
    paretoPage(site, comparables),
    acceleratorsPage(site, comparables, { kernels: kernels?.id ?? null }),
    loadPage(site),
    modelsPage(site, comparables),
    routingPage(site),
    kernels,
    trainingPage(trainingsBehind(site.runs)),
    methodPage(site),
  ];
  return pages.filter((page) => page !== null);
}
