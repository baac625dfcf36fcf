import type { PublishedRun } from '@perwatt/records';
import type { ComparableCell } from '../compare/comparable.js';
import { importedPages } from '../imported/imported-pages.js';
import { importedSite } from '../imported/imported-site.js';
import { kernelsPage } from '../kernels/kernels-page.js';
import type { TrainingReport } from '../training/training-account.js';
import { trainingPage } from '../training/training-page.js';
import { trainingsBehind } from '../training/trainings-behind.js';
import { acceleratorsPage } from './accelerators-page.js';
import { attemptsPage } from './attempts-page.js';
import { loadPage } from './load-page.js';
import { methodPage } from './method-page.js';
import { modelsPage } from './models-page.js';
import { overviewPage } from './overview-page.js';
import { paretoPage } from './pareto-page.js';
import { resultsPage } from './results-page.js';
import { routingPage } from './routing-page.js';
import type { Site } from './site-model.js';
import type { SitePage } from './site-page.js';

/** What comes into the site of measured runs beside them. */
export interface BesideRuns {
  /** Figures of others, on pages of their own. */
  readonly imports?: readonly PublishedRun[];
  /** Trainings, beside those that policies of the runs came from. */
  readonly trainings?: readonly TrainingReport[];
}

/** Trainings that were given and those behind the runs, each once. */
function trainingsOf({ runs }: Site, given: readonly TrainingReport[]): TrainingReport[] {
  const known = new Set(given.map(({ manifest }) => manifest.run_id));
  return [...given, ...trainingsBehind(runs).filter(({ manifest }) => !known.has(manifest.run_id))];
}

/** The pages of a site's navigation, in order; those that a site has nothing for are left out. */
export function sitePages(
  site: Site,
  comparables: readonly ComparableCell[],
  { imports = [], trainings = [] }: BesideRuns = {},
): SitePage[] {
  const kernels = kernelsPage(site.runs, site.catalogue);
  const imported = imports.length === 0 ? [] : importedPages(importedSite(imports, site.catalogue), 'beside');
  const pages: readonly (SitePage | null)[] = [
    overviewPage(site),
    resultsPage(site),
    paretoPage(site, comparables),
    acceleratorsPage(site, comparables, { kernels: kernels?.id ?? null }),
    loadPage(site),
    modelsPage(site, comparables),
    attemptsPage(site),
    routingPage(site),
    kernels,
    trainingPage(trainingsOf(site, trainings)),
    ...imported,
    methodPage(site),
  ];
  return pages.filter((page) => page !== null);
}
