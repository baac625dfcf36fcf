import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { openRun } from '@perwatt/records';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { buildResults } from '../build-results.js';
import { type SyntheticOptions, syntheticRun } from '../synthetic-run.fixture.js';
import { readPlotlySource } from '../write-report.js';
import { siteScript } from './scripts/site-script.js';
import { writeSite } from './write-site.js';

const CHROMIUM = '/usr/bin/chromium';
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const evil = `"><script>window.broken=1</script><img src=x onerror="window.broken=1"></script><!-- javascript:window.broken=1 \u001b[31mred \u202egpj.exe \u0000 =cmd()`;

let root = '';
/** Sites by name: `plain` of two runs of two devices, `evil` of one with hostile texts wherever a text may stand. */
const sites: Record<string, string> = {};

async function siteAt(name: string, options: readonly Omit<SyntheticOptions, 'root'>[]): Promise<string> {
  const runs = options.map((own) => {
    const run = syntheticRun({ root: join(root, name), items: 8, ...own });
    return { run, results: buildResults(run) };
  });
  const folder = join(root, `${name}-site`);
  await writeSite(runs, folder, { plotlySource: await readPlotlySource() });
  return folder;
}

const here = existsSync(CHROMIUM);
if (!here) process.stderr.write(`skipped: pages of a site in a browser, because ${CHROMIUM} is missing\n`);
let browser: Browser | null = null;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-site-'));
  const method = 'isolated';
  sites['plain'] = await siteAt('plain', [
    { run_id: 'first', repeats: 2, method, accelerators: ['edge', 'server'] },
    { run_id: 'second', repeats: 2, method, accelerators: ['edge'], models: ['qwen3-4b'] },
  ]);
  sites['evil'] = await siteAt('evil', [
    {
      models: [evil, 'plain'],
      strategies: ['single', evil],
      accelerators: [evil],
      power: 'estimated',
      protocol: 'quick',
      text: evil,
      completion: 'y'.repeat(1_000_000),
      failing: 0.5,
    },
  ]);
  if (here) browser = await chromium.launch({ executablePath: CHROMIUM, args: flags });
}, 120_000);
afterAll(async () => {
  await browser?.close();
  rmSync(root, { recursive: true, force: true });
});

const navigation = ['index', 'results', 'pareto', 'accelerators', 'models', 'routing', 'method'];
const cellsOf = (site: string): string[] =>
  readdirSync(join(sites[site] ?? '', 'cells')).map((name) => `cells/${name.replace('.html', '')}`);
const pagesOf = (site: string): string[] => [...navigation, ...cellsOf(site).slice(-1)];

test('a site is whole: every page of the navigation, a page a cell, data for machines, one chart library', () => {
  const folder = sites['plain'] ?? '';
  expect(readdirSync(folder).sort()).toEqual(
    [
      ...navigation.map((name) => `${name}.html`),
      'assets',
      'cells',
      'matrix-1.json',
      'matrix-2.json',
      'results.csv',
      'results.json',
    ].sort(),
  );
  expect(readdirSync(join(folder, 'assets')).sort()).toEqual(['plotly.js', 'site.js']);
  expect(cellsOf('plain')).toHaveLength(20);
  expect(JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')).runs).toHaveLength(2);
  expect(readFileSync(join(folder, 'results.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(21);
});

test('the same run gives the same bytes again', async () => {
  const run = openRun(join(root, 'plain', 'second'));
  const made: string[] = [];
  for (const name of ['once', 'twice']) {
    await writeSite([{ run, results: buildResults(run) }], join(root, name), { plotlySource: 'var Plotly;' });
    const files = readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).sort();
    const texts = files.filter((file) => /\.\w+$/.test(file) && statSync(join(root, name, file)).isFile());
    made.push(texts.map((file) => `${file}\n${readFileSync(join(root, name, file), 'utf8')}`).join('\n'));
  }
  expect(made[0]).toContain('index.html');
  expect(made[1]).toBe(made[0]);
});

test('the script of a site is a script', () => {
  expect(() => new Script(siteScript)).not.toThrow();
});

test('what a reader loads stays small, with a line of a megabyte in every answer', () => {
  for (const [site, folder] of Object.entries(sites)) {
    const size = (path: string) => statSync(join(folder, path)).size;
    const shared = size('assets/plotly.js') + size('assets/site.js');
    expect(shared + size('index.html'), `first load of ${site}`).toBeLessThan(6e6);
    for (const cell of cellsOf(site)) expect(size(`${cell}.html`), cell).toBeLessThan(300_000);
  }
});

test('links of every page lead to files of the site', () => {
  for (const folder of Object.values(sites)) {
    for (const name of [
      ...navigation,
      ...readdirSync(join(folder, 'cells')).map((cell) => `cells/${cell.replace('.html', '')}`),
    ]) {
      const text = readFileSync(join(folder, `${name}.html`), 'utf8');
      const links = [...text.matchAll(/ (?:href|src)="([^"#][^"]*)"/g)].map(([, link]) => link ?? '');
      expect(links.length).toBeGreaterThan(5);
      const base = name.startsWith('cells/') ? join(folder, 'cells') : folder;
      for (const link of new Set(links)) expect(existsSync(join(base, link)), `${name}: ${link}`).toBe(true);
    }
  }
});

test('control characters and marks of direction are in no page', () => {
  for (const folder of Object.values(sites))
    for (const name of navigation) {
      const text = readFileSync(join(folder, `${name}.html`), 'utf8');
      expect(text.match(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u), name).toBeNull();
    }
});

interface Opened {
  readonly page: Page;
  /** What the console said, errors, and addresses outside the site. */
  readonly trouble: string[];
}

interface OpenOptions {
  readonly width?: number;
  readonly dark?: boolean;
  readonly hash?: string;
}

async function open(
  site: string,
  name: string,
  { width = 1280, dark = false, hash = '' }: OpenOptions = {},
): Promise<Opened> {
  const folder = sites[site] ?? '';
  const context: BrowserContext = await browser!.newContext({
    viewport: { width, height: 800 },
    colorScheme: dark ? 'dark' : 'light',
  });
  const page = await context.newPage();
  const trouble: string[] = [];
  page.on('console', (message) => trouble.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => trouble.push(error.message));
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && !decodeURI(url).startsWith(`file://${folder}/`)) trouble.push(url);
  });
  await page.goto(`file://${folder}/${name}.html${hash}`);
  await page.waitForSelector('html[data-ready]');
  return { page, trouble };
}

const evaluate = <T>(page: Page, expression: string): Promise<T> => page.evaluate(expression) as Promise<T>;
/** A loaded machine draws late. */
const patiently = { timeout: 20_000 };
const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
const undrawn = 'document.querySelectorAll(".plot:empty").length';
/** Scrolls past every figure of a page, as a reader would, until all are drawn. */
async function comeNearAll(page: Page): Promise<void> {
  const places = page.locator('.plot');
  for (let i = 0; i < (await places.count()); i++) {
    const place = places.nth(i);
    await place.scrollIntoViewIfNeeded();
    await expect
      .poll(() => evaluate<number>(page, undrawn), patiently)
      .toBeLessThanOrEqual((await places.count()) - i - 1);
  }
  await page.evaluate('scrollTo(0, 0)');
}
const axe = here ? readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8') : '';

async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await evaluate<{
    violations: { id: string; impact: string; nodes: { target: string[] }[] }[];
  }>(page, "axe.run({ resultTypes: ['violations'] })");
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

describe.skipIf(!here)('in a browser', { timeout: 300_000 }, () => {
  test.each(['plain', 'evil'])(
    'every page of the site %s opens without errors, requests, serious findings or sideways scrolling, and nothing in it runs',
    async (site) => {
      for (const name of pagesOf(site)) {
        const { page, trouble } = await open(site, name);
        await evaluate(page, "for (const d of document.querySelectorAll('details')) d.open = true");
        expect(await evaluate(page, 'typeof window.broken'), name).toBe('undefined');
        expect(await page.locator('img').count(), name).toBe(0);
        expect(await evaluate<number>(page, overflow), name).toBe(0);
        await comeNearAll(page);
        expect(await evaluate<number>(page, undrawn), name).toBe(0);
        if (site === 'plain') expect(await findings(page), name).toEqual([]);
        await page.setViewportSize({ width: 360, height: 800 });
        await expect
          .poll(() => evaluate<number>(page, overflow), { message: `${name} at 360 px`, timeout: 20_000 })
          .toBe(0);
        expect(trouble, name).toEqual([]);
        await page.context().close();
      }
    },
  );

  test('figures are drawn when the reader comes near them, in places that keep their size, and all of them for print', async () => {
    const { page, trouble } = await open('plain', 'models');
    const figures = await page.locator('.plot').count();
    expect(figures).toBeGreaterThan(2);
    const heights = () =>
      evaluate<string>(page, `[...document.querySelectorAll('.plot')].map((p) => p.offsetHeight).join()`);
    const reserved = await heights();
    expect(await evaluate<number>(page, undrawn)).toBeGreaterThan(0);
    expect(await evaluate<number>(page, undrawn)).toBeLessThan(figures);
    await page.pdf();
    await expect.poll(() => evaluate<number>(page, undrawn), patiently).toBe(0);
    expect(await heights()).toBe(reserved);
    await page.context().close();

    const again = await open('plain', 'models');
    await comeNearAll(again.page);
    expect(await evaluate<number>(again.page, undrawn)).toBe(0);
    expect([...trouble, ...again.trouble]).toEqual([]);
    await again.page.context().close();
  });

  test('the dark page is dark, readable, and the reader may choose otherwise', async () => {
    const { page } = await open('plain', cellsOf('plain')[0]!, { dark: true });
    const back = 'getComputedStyle(document.body).backgroundColor';
    const ink = "document.querySelector('#power .xtick text').style.fill";
    expect(await evaluate(page, back)).toBe('rgb(20, 24, 29)');
    expect(await evaluate(page, ink)).toBe('rgb(228, 232, 236)');
    expect(await findings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Dark colours' }).click();
    expect(await evaluate(page, back)).toBe('rgb(255, 255, 255)');
    await expect.poll(() => evaluate(page, ink), patiently).toBe('rgb(28, 33, 40)');
    await page.context().close();
  });

  test('results sort by a metric, filter by text, axis and front, and show the columns that are asked for', async () => {
    const { page, trouble } = await open('plain', 'results');
    const rows = page.locator('#results-table tbody tr');
    expect(await rows.count()).toBe(20);
    const column = async () =>
      (await rows.locator('td:nth-child(8)').allTextContents()).map((text) => Number.parseFloat(text));
    await page.getByRole('button', { name: 'Accuracy', exact: true }).click();
    expect(await page.locator('th[data-key="accuracy"]').getAttribute('aria-sort')).toBe('descending');
    const sorted = await column();
    expect(sorted).toEqual(sorted.toSorted((a, b) => b - a));
    await page.getByRole('button', { name: 'Accuracy', exact: true }).click();
    expect(await page.locator('th[data-key="accuracy"]').getAttribute('aria-sort')).toBe('ascending');
    expect(await column()).toEqual(sorted.toSorted((a, b) => a - b));

    await page.locator('#results-search').fill('gemma choice');
    expect(await rows.count()).toBe(4);
    await page.locator('#results-search').fill('');
    await page.locator('[data-filter="strategy"]').selectOption('single');
    expect(await rows.count()).toBe(10);
    await page.getByLabel('on a front only').check();
    expect(await rows.count()).toBeLessThan(10);
    expect(await rows.locator('.badge.front').count()).toBe(await rows.count());
    await page.getByLabel('on a front only').uncheck();

    expect(await page.locator('th[data-key="tpot_p50_ns"]').count()).toBe(0);
    await page.getByText('Columns', { exact: true }).click();
    await page.locator('[data-column="tpot_p50_ns"]').check();
    expect(await page.locator('th[data-key="tpot_p50_ns"]').count()).toBe(1);
    expect(trouble).toEqual([]);
    await page.context().close();
  });

  test('of very many cells some are drawn at first, and all are searched, copied and shown on request', async () => {
    const folder = sites['plain'] ?? '';
    const text = readFileSync(join(folder, 'results.html'), 'utf8');
    const few = join(folder, 'results-few.html');
    writeFileSync(few, text.replace('"rows_at_first":200', '"rows_at_first":3'));
    onTestFinished(() => rmSync(few));
    const { page, trouble } = await open('plain', 'results-few');
    const rows = page.locator('#results-table tbody tr');
    expect(await rows.count()).toBe(3);
    await page.locator('#results-search').fill('gemma choice');
    expect(await rows.count()).toBe(3);
    expect(await page.locator('#results-status').textContent()).toContain('4 of 20');
    await page.locator('#results-search').fill('');
    await page.getByRole('button', { name: 'Show the other 17 cells' }).click();
    expect(await rows.count()).toBe(20);
    expect(await page.locator('#results-more').isVisible()).toBe(false);
    expect(trouble).toEqual([]);
    await page.context().close();
  });

  test('results are copied as they stand, and a name that looks like a formula is none', async () => {
    const { page } = await open('evil', 'results');
    const copied = page.locator('#results-copied');
    const copy = async (form: string) => {
      await page.getByRole('button', { name: `Copy ${form}` }).click();
      await expect
        .poll(() => page.locator('#results-status').textContent(), patiently)
        .toContain(`Copied as ${form}`);
      return copied.inputValue();
    };
    await page.locator('[data-filter="model"]').selectOption('plain');
    const markdown = await copy('Markdown');
    expect(markdown.split('\n')[0]).toMatch(
      /^\| Model \| Data set \| Strategy \| Accuracy \| Mean power \(W\) \|/,
    );
    expect(markdown.trimEnd().split('\n')).toHaveLength(2 + 4);
    expect(markdown).toContain('estimated');
    const csv = await copy('CSV');
    expect(csv.split('\n')[0]).toContain('model,dataset,strategy,accuracy,accuracy__lo,accuracy__hi');
    const latex = await copy('LaTeX');
    expect(latex).toMatch(/^\\begin\{tabular\}\{lll/);
    expect(latex).toContain('\\%');
    expect(latex.replaceAll('\\\\', '').match(/(?<!\\)[%#$]/)).toBeNull();
    await page.locator('#results-search').focus();
    await page.keyboard.press('Control+V');
    expect(await page.locator('#results-search').inputValue()).toContain('tabular');
    await page.context().close();
  });

  test('a cell’s name opens its page, and the page says how to run it again', async () => {
    const { page, trouble } = await open('plain', 'results');
    const link = page.locator('#results-table tbody th a').first();
    const name = await link.textContent();
    await link.click();
    await page.waitForSelector('html[data-ready]');
    expect(page.url()).toMatch(/cells\/(first|second)\.c0+[0-9a-f]+\.html$/);
    expect(await page.locator('h1').textContent()).toContain(name);
    expect(await page.locator('#again').textContent()).toMatch(
      /^perwatt run matrix-\d\.json --filter model=\S+ --filter accelerator=(edge|server) --filter dataset=\w+ --filter strategy=\w+ --filter load=c1\n/,
    );
    expect(await page.locator('details.query').count()).toBe(16);
    await page.locator('#queries-verdict').selectOption('correct');
    const shown = await page.locator('details.query:visible').count();
    expect(shown).toBe(await page.locator('details.query[data-verdict="correct"]').count());
    expect(await page.locator('#power .scatterlayer .trace').count()).toBeGreaterThanOrEqual(2);
    expect(await page.locator('#latency .scatterlayer .trace').count()).toBeGreaterThanOrEqual(2);
    expect(trouble).toEqual([]);
    await page.context().close();
  });

  test('a trade-off tells its cells, opens them, and takes any two metrics, scales and groups', async () => {
    const { page, trouble } = await open('plain', 'pareto');
    const marks = page.locator('#pareto .scatterlayer .points path');
    expect(await marks.count()).toBe(20);
    const listed = await page.locator('#pareto-front tr').count();
    expect(await page.locator('#pareto-status').textContent()).toBe(`${listed} of 20 cells on a front`);
    expect(await page.locator('#pareto-front').textContent()).toMatch(/\d+ %|>99 %/);
    await marks.first().hover({ force: true });
    await expect
      .poll(() => page.locator('#pareto .hoverlayer').textContent(), patiently)
      .toContain('Accuracy');

    await page.locator('#pareto-x').selectOption('tokens_per_s');
    expect(await page.locator('#pareto-head-x').textContent()).toBe('Output tokens per second (1/s)');
    await page.getByLabel('log across').check();
    expect(await evaluate(page, "document.getElementById('pareto').layout.xaxis.type")).toBe('log');
    await page.locator('#pareto-group').selectOption({ label: 'mean over 2 data sets' });
    await expect.poll(() => marks.count(), patiently).toBe(10);
    await page.getByRole('button', { name: 'accuracy against sequential tokens' }).click();
    expect(await page.locator('#pareto-x').inputValue()).toBe('sequential_tokens');
    await page.locator('#pareto-group').selectOption('each');
    await page.getByRole('button', { name: 'accuracy against joules' }).click();
    await expect.poll(() => marks.count(), patiently).toBe(20);
    await marks.first().hover({ force: true });
    await expect
      .poll(() => page.locator('#pareto .hoverlayer').textContent(), patiently)
      .toContain('Accuracy');
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForURL(/\/cells\/[\w.-]+\.html$/);
    expect(trouble).toEqual([]);
    await page.context().close();
  });

  test('hostile texts stand in the page as they are, cut where they are long', async () => {
    const { page } = await open('evil', cellsOf('evil').at(-1)!);
    await evaluate(page, "for (const d of document.querySelectorAll('details')) d.open = true");
    const query = await page.locator('details.query pre').nth(1).textContent();
    expect(query).toContain('<script>window.broken=1</script>');
    expect(query).toContain('\u241b[31mred gpj.exe \u2400');
    expect(query).toMatch(/more characters\)$/);
    expect(await page.locator('details.query', { hasText: 'nothing came for 60 s' }).count()).toBeGreaterThan(
      0,
    );
    await page.context().close();
  });

  test('the contents are reached by keyboard, and print without what only a screen needs', async () => {
    const { page } = await open('plain', 'index');
    await page.keyboard.press('Tab');
    expect(await evaluate(page, 'document.activeElement.className')).toBe('skip');
    await page.keyboard.press('Enter');
    expect(await evaluate(page, 'document.activeElement.id')).toBe('main');
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('header.bar').isVisible()).toBe(false);
    expect(await page.locator('h1').isVisible()).toBe(true);
    expect((await page.pdf()).subarray(0, 5).toString()).toBe('%PDF-');
    await page.context().close();
  });

  test('a script that is not the site’s own does not run, and nothing is fetched', async () => {
    const { page } = await open('plain', 'index');
    await evaluate(
      page,
      "(() => { const s = document.createElement('script'); s.textContent = 'window.broken = 1'; document.body.append(s); })()",
    );
    expect(await evaluate(page, 'typeof window.broken')).toBe('undefined');
    expect(await evaluate(page, "fetch('data:text/plain,x').then(() => 'sent', () => 'refused')")).toBe(
      'refused',
    );
    await page.context().close();
  });
});
