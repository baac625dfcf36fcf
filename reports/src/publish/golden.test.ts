import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openRun, type RunFolder, verifyRun } from '@perwatt/records';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildResults } from '../build-results.js';
import { resultsCsv } from '../results-csv.js';
import { resultsJson } from '../results-json.js';
import { writeSite } from '../site/write-site.js';
import { readPlotlySource } from '../write-report.js';
import { compareClaims } from './compare-claims.js';
import { drawFigures } from './draw-figures.js';
import { filesBelow } from './publication-files.js';
import { recheckEnergy } from './recheck-energy.js';
import { unpackBundle } from './unpack-bundle.js';
import { publicationFigures, writePublication } from './write-publication.js';

const CHROMIUM = '/usr/bin/chromium';
const golden = fileURLToPath(new URL('../../golden/', import.meta.url));

let root = '';
let run: RunFolder;
let claims: unknown;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-golden-'));
  const { problems } = await unpackBundle(join(golden, 'run.tgz'), {
    into: join(root, 'run'),
    most_bytes: 1e8,
  });
  expect(problems).toEqual([]);
  run = openRun(join(root, 'run/run'));
  claims = JSON.parse(readFileSync(join(root, 'run/results.json'), 'utf8'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Numbers to nine digits: the last ones of a double differ between builds of a mathematics library. */
const rounded = (text: string): string =>
  text.replace(/-?\d+\.\d{6,}(e[+-]?\d+)?/g, (number) => String(Number(Number(number).toPrecision(9))));

/** Figures without their units and definitions: those may be worded anew. */
const figuresOf = (results: unknown): unknown =>
  JSON.parse(
    JSON.stringify(results, (key, value) =>
      key === 'unit' || (key === 'metrics' && Array.isArray(value)) ? undefined : value,
    ),
  );

describe('the golden run', () => {
  test('is whole, its energies come out of its samples, and its figures are those it was packed with', () => {
    expect(verifyRun(run.path).findings).toEqual([]);
    expect(recheckEnergy(run)).toEqual({ queries: 48, sittings: 2, problems: [], notes: [] });
    const { values, differences } = compareClaims(
      figuresOf(claims),
      figuresOf(JSON.parse(resultsJson(buildResults(run)))),
      {
        unclaimed: 'ignore',
      },
    );
    expect(differences).toEqual([]);
    expect(values).toBeGreaterThan(1000);
  });

  test('gives the same report, byte for byte, every time', async () => {
    const folders = ['once', 'twice'].map((name) => join(root, name));
    for (const folder of folders) {
      const results = buildResults(run);
      await writeSite([{ run, results }], folder, { plotlySource: 'var Plotly;' });
    }
    const [once = '', twice = ''] = folders;
    const files = filesBelow(once);
    expect(files).toEqual(filesBelow(twice));
    expect(files.filter((file) => file.startsWith('cells/'))).toHaveLength(2);
    const same = files.filter((file) =>
      readFileSync(join(once, file)).equals(readFileSync(join(twice, file))),
    );
    expect(same).toEqual(files);
  });

  test('gives the recorded tables, card and citation', async () => {
    const out = join(root, 'publication');
    await writePublication(out, [{ run, results: buildResults(run) }], {
      title: 'Golden run',
      authors: ['The Perwatt authors'],
      licence: 'CC0-1.0',
      url: null,
      redacted: { hosts: 0, users: 0, home_paths: 0, secrets: 0, texts: true },
      draw: null,
      missing: [],
      report: async () => {},
    });
    const text = (file: string) => rounded(readFileSync(join(out, file), 'utf8'));
    await expect(text('tables/results.md')).toMatchFileSnapshot(join(golden, 'results.md.txt'));
    await expect(text('tables/results.tex')).toMatchFileSnapshot(join(golden, 'results.tex'));
    await expect(text('CITATION.cff')).toMatchFileSnapshot(join(golden, 'citation.cff.txt'));
    await expect(text('DATA_CARD.md')).toMatchFileSnapshot(join(golden, 'data-card.md.txt'));
    await expect(text('results.csv')).toMatchFileSnapshot(join(golden, 'results.csv'));
    expect(resultsCsv(buildResults(run))).toBe(readFileSync(join(out, 'results.csv'), 'utf8'));
  });
});

const browser = existsSync(CHROMIUM)
  ? execFileSync(CHROMIUM, ['--version'], { encoding: 'utf8' }).trim().split('.')[0]
  : null;
const recorded = existsSync(join(golden, 'browser.txt'))
  ? readFileSync(join(golden, 'browser.txt'), 'utf8').trim()
  : browser;
const fonts = existsSync('/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf');
const why =
  browser === null
    ? `${CHROMIUM} is missing`
    : browser !== recorded
      ? `it is ${browser}, not ${recorded}`
      : fonts
        ? null
        : 'the font DejaVu Sans is missing';
if (why !== null) process.stderr.write(`skipped: golden figures in a browser, because ${why}\n`);

test.skipIf(why !== null)('the golden run gives the recorded figures', async () => {
  const plotlySource = await readPlotlySource();
  const drawn = await drawFigures(publicationFigures(buildResults(run)), {
    executable: CHROMIUM,
    plotlySource,
  });
  expect(drawn.map(({ id }) => id)).toEqual(['pareto', 'load-curve', 'power']);
  await expect(`${browser}\n`).toMatchFileSnapshot(join(golden, 'browser.txt'));
  for (const { id, svg } of drawn) await expect(svg).toMatchFileSnapshot(join(golden, `${id}.svg`));
});
