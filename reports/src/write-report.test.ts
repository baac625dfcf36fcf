import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildResults } from './build-results.js';
import { type SyntheticOptions, syntheticRun } from './synthetic-run.fixture.js';
import { readPlotlySource, type WrittenReport, writeReport } from './write-report.js';

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
const evil = `"><script>window.broken=1</script><img src=x onerror="window.broken=1"></script><!--`;

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-report-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function reportOf(
  name: string,
  options: Omit<SyntheticOptions, 'root'>,
  plotlySource?: string,
): Promise<WrittenReport> {
  const run = syntheticRun({ root: join(root, name), items: 8, ...options });
  const source = plotlySource ?? (await readPlotlySource());
  return writeReport(buildResults(run), join(run.path, 'report'), { plotlySource: source });
}

test('a report is three whole files, and a second one takes their place', async () => {
  const written = await reportOf('files', {}, 'var Plotly;');
  writeFileSync(written.csv, 'old');
  const results = buildResults(syntheticRun({ root: join(root, 'files-again'), items: 8 }));
  await writeReport(results, join(written.html, '..'), { plotlySource: 'var Plotly;' });
  expect(readdirSync(join(written.html, '..')).sort()).toEqual(['index.html', 'results.csv', 'results.json']);
  expect(readFileSync(written.csv, 'utf8').split('\n')).toHaveLength(10);
  expect(JSON.parse(readFileSync(written.json, 'utf8')).cells).toHaveLength(8);
});

test('what the sensors reported stands in the provenance, in words, with what would mend it', async () => {
  const run = syntheticRun({ root: join(root, 'flagged'), items: 2 });
  const [first, ...others] = run.manifest.power;
  const status = {
    state: 'stopped',
    reason: null,
    reads: 9,
    missed_deadlines: 0,
    read_ns: 0,
    dropped: 4,
  } as const;
  const domain = first!.domains[0]!.id;
  run.updateManifest({
    power: [{ ...first!, status: { ...status, flags: [`stale:${domain}`] } }, ...others],
  });
  const results = buildResults(run);
  expect(results.power[0]?.flags).toEqual([`stale:${domain}`, 'dropped:4']);
  const { html } = await writeReport(results, join(run.path, 'report'), { plotlySource: '' });
  const page = readFileSync(html, 'utf8');
  const provenance = page.slice(page.indexOf('<section id="provenance">'));
  expect(provenance).toContain('What the sensors reported');
  expect(provenance).toContain(`the counter of ${domain} stood still for so long`);
  expect(provenance).toContain('4 readings were dropped before anyone took them');
  expect(provenance).toContain('Read the device by another source, or reload its driver.');
});

test('a place that cannot be written is one clear error', async () => {
  const results = buildResults(syntheticRun({ root: join(root, 'nowhere'), items: 2 }));
  writeFileSync(join(root, 'a-file'), '');
  await expect(
    writeReport(results, join(root, 'a-file', 'report'), { plotlySource: '' }),
  ).rejects.toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringContaining(join(root, 'a-file')),
  });
});

test('a library that holds a closing tag does not end its element', async () => {
  const page = readFileSync((await reportOf('tag', {}, 'var x = "</script><b>";')).html, 'utf8');
  expect(page).toContain('var x = "<\\/script><b>";');
});

const here = existsSync(CHROMIUM);
if (!here) process.stderr.write(`skipped: the page in a browser, because ${CHROMIUM} is missing\n`);

describe.skipIf(!here)('in a browser the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: flags });
  });
  afterAll(() => browser?.close());

  async function open(path: string, options: { width: number; colorScheme: 'light' | 'dark' }) {
    const page = await browser.newPage({
      viewport: { width: options.width, height: 800 },
      colorScheme: options.colorScheme,
    });
    const trouble: string[] = [];
    page.on('console', (message) => trouble.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url()) && request.url() !== `file://${path}`)
        trouble.push(request.url());
    });
    await page.goto(`file://${path}`);
    await page.waitForSelector('html[data-ready]');
    return { page, trouble };
  }

  const evaluate = <T>(page: Page, expression: string): Promise<T> => page.evaluate(expression) as Promise<T>;
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

  test.each([
    [1280, 'light'],
    [1280, 'dark'],
    [360, 'light'],
  ] as const)(
    'draws its figures at %d px, %s, without errors, requests or sideways scrolling',
    async (width, colorScheme) => {
      const written = await reportOf(`draw-${width}-${colorScheme}`, {
        power: 'estimated',
        protocol: 'quick',
      });
      const { page, trouble } = await open(written.html, { width, colorScheme });
      expect(await page.locator('#results tbody tr').count()).toBe(8);
      expect(await page.locator('#pareto .scatterlayer .trace').count()).toBeGreaterThanOrEqual(4);
      expect(await page.locator('#power .scatterlayer .trace').count()).toBe(2);
      expect(await page.locator('#results .badge.estimated').count()).toBe(8);
      expect(await page.locator('[aria-label="Energy ledger"] tbody tr').count()).toBe(8);
      expect(await page.locator('#ledger .badge.estimated').count()).toBe(8);
      expect(await page.locator('#ledger tbody tr', { hasText: '~' }).count()).toBe(
        await page.locator('#ledger tbody tr').count(),
      );
      expect(await page.locator('#not-measured li').count()).toBeGreaterThan(4);
      expect(
        await page.locator('.modebar-btn[data-title*="loud"], .modebar-btn[data-title*="hare"]').count(),
      ).toBe(0);
      expect(await evaluate<number>(page, overflow)).toBe(0);
      expect(trouble).toEqual([]);
      await page.close();
    },
  );

  test('keeps markup in names, texts and reasons inert', async () => {
    const written = await reportOf('evil', {
      models: [evil, 'plain'],
      strategies: ['single', evil],
      text: evil,
    });
    const { page, trouble } = await open(written.html, { width: 1280, colorScheme: 'light' });
    await evaluate(page, "for (const d of document.querySelectorAll('details')) d.open = true");
    expect(await evaluate(page, 'typeof window.broken')).toBe('undefined');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('#results tbody').textContent()).toContain('<script>window.broken=1</script>');
    expect(await page.locator('#answers pre').first().textContent()).toContain(evil);
    expect(await evaluate<number>(page, overflow)).toBe(0);
    expect(trouble).toEqual([]);
    await page.close();
  });

  test('needs no power to be useful', async () => {
    const written = await reportOf('powerless', { power: 'none' });
    const { page, trouble } = await open(written.html, { width: 1280, colorScheme: 'light' });
    expect(await page.locator('.plot').count()).toBe(0);
    expect(await page.locator('#not-measured').textContent()).toContain('No power was recorded');
    expect(trouble).toEqual([]);
    await page.close();
  });

  test('refuses what a foreign script would want', async () => {
    const written = await reportOf('policy', {});
    const { page } = await open(written.html, { width: 1280, colorScheme: 'light' });
    await evaluate(
      page,
      "(() => { const s = document.createElement('script'); s.textContent = 'window.broken = 1'; document.body.append(s); })()",
    );
    expect(await evaluate(page, 'typeof window.broken')).toBe('undefined');
    expect(await evaluate(page, "fetch('data:text/plain,x').then(() => 'sent', () => 'refused')")).toBe(
      'refused',
    );
    await page.close();
  });
});
