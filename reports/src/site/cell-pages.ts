import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { CellFile, PowerFileSeries } from '@perwatt/records';
import { cellDetail } from './cell-detail.js';
import { cellPage, type RecordLink } from './cell-page.js';
import { isSmall } from './site-comparable.js';
import { cellNamer, type Site, type SiteCell, type SiteRun } from './site-model.js';
import type { SitePage } from './site-page.js';
import { shownAxes } from './site-parts.js';

/** Queries of a run above which its cells' pages carry aggregates alone. */
const MOST_DETAILED = 500_000;

interface RunSources {
  readonly files: ReadonlyMap<string, CellFile>;
  /** Null where the run is too large for details. */
  readonly power: readonly PowerFileSeries[] | null;
}

function sourcesOf(own: SiteRun): RunSources {
  if (own.run === null) return { files: new Map(), power: null };
  const files = new Map(own.run.cells().map((cell) => [cell.cell_id, cell] as const));
  return { files, power: isSmall(own, MOST_DETAILED) ? own.run.powerSeries() : null };
}

/** Name of the file with the matrix of a run, from the site's root. */
export const matrixFileOf = ({ runs }: Pick<Site, 'runs'>, run: SiteRun): string =>
  runs.length === 1 ? 'matrix.json' : `matrix-${runs.indexOf(run) + 1}.json`;

const tables = ['queries', 'calls', 'texts', 'grades'] as const;

/** Addresses of the Parquet files of a cell, from its page; only those that there are. */
function parquetLinks({ cell_id, run }: SiteCell, folder: string | null): RecordLink[] {
  if (run.run === null || folder === null) return [];
  const own = run.run.cellFolder(cell_id);
  return tables
    .map((table) => ({ name: `${table}.parquet`, path: join(own, `${table}.parquet`) }))
    .filter(({ path }) => existsSync(path))
    .map(({ name, path }) => ({
      name,
      href: relative(join(folder, 'cells'), path).split(sep).map(encodeURIComponent).join('/'),
    }));
}

interface Named {
  readonly site: Site;
  /** Folder of the site, where its pages may link into run folders; null where they may not. */
  readonly folder: string | null;
  readonly nameOf: (own: SiteCell) => string;
}

function pageOf({ site, folder, nameOf }: Named, own: SiteCell, { files, power }: RunSources): SitePage {
  const file = files.get(own.cell_id) ?? null;
  const { run } = own.run;
  const detail =
    file === null || power === null || run === null
      ? null
      : cellDetail(file, { run, power, clocks: run.manifest.clocks });
  return cellPage(own, {
    detail,
    file,
    power: run?.manifest.power ?? [],
    parquet: parquetLinks(own, folder),
    matrixFile: matrixFileOf(site, own.run),
    name: nameOf(own),
  });
}

/**
 * The page of every cell, one after another, so that no two need be kept. With the site's `folder` they link the Parquet
 * files of their runs.
 */
export function* cellPages(site: Site, folder: string | null = null): Generator<SitePage> {
  const [namer, axes] = [cellNamer(site), shownAxes(site.merged.cells)];
  const named: Named = { site, folder, nameOf: ({ cell }) => namer(cell, axes) };
  for (const run of site.runs) {
    const sources = sourcesOf(run);
    for (const own of site.cells) if (own.run === run) yield pageOf(named, own, sources);
  }
}
