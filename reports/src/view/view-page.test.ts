import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { syntheticRun } from '../synthetic-run.fixture.js';
import { createRunWatch } from './run-watch.js';
import { startViewServer } from './view-server.js';

const CHROMIUM = '/usr/bin/chromium';
const here = existsSync(CHROMIUM);
if (!here) process.stderr.write(`skipped: the view in a browser, because ${CHROMIUM} is missing\n`);

describe.skipIf(!here)('in a browser the view', () => {
  let browser: Browser;
  let root = '';
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), 'perwatt-view-page-'));
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic'],
    });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(root, { recursive: true, force: true });
  });

  test('shows how a run stands, names inert, asks nobody else, and fits a phone', async () => {
    const evil = '<img src=x onerror="window.broken=1">';
    const run = syntheticRun({ root, items: 6, models: [evil, 'plain'] });
    const server = await startViewServer({
      watch: createRunWatch(run.path),
      token: 'a'.repeat(32),
      port: 0,
      period_ms: 100,
    });
    const trouble: string[] = [];
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    page.on('console', (message) => trouble.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url) && !request.url().endsWith('/favicon.ico'))
        trouble.push(request.url());
    });
    await page.goto(server.url);
    await page.waitForSelector('html[data-ready]');
    const text = (selector: string) => page.locator(selector).textContent();
    expect(await text('#name')).toBe(run.manifest.run_id);
    expect(await text('#progress')).toBe('8 of 8 cells, 48 of 48 queries');
    expect(await page.locator('#cells tr').count()).toBe(8);
    expect(await text('#cells')).toContain(evil);
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.evaluate('typeof window.broken')).toBe('undefined');
    expect(Number(await text('#watts'))).toBeGreaterThan(5);
    expect(await page.locator('#line polyline').count()).toBe(1);
    expect(await text('#read')).toMatch(/^[\d,]+ bytes read/);
    expect(
      await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    ).toBe(0);
    expect(trouble.filter((line) => !line.includes('favicon'))).toEqual([]);
    await page.close();
    await server.close();
  });
});
