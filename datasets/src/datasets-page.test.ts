import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { datasetCatalogue } from './catalogue.js';
import { datasetsPage } from './datasets-page.js';

test('docs/datasets.md is what the cards say; else run `npm run docs:datasets`', () => {
  const page = readFileSync(new URL('../../docs/datasets.md', import.meta.url), 'utf8');
  expect(page).toBe(datasetsPage());
});

test('the page has every card, with its licence, its known bad items and its hashes', () => {
  const page = datasetsPage();
  for (const { card } of datasetCatalogue()) {
    if (card === undefined) continue;
    const [, own = ''] = page.split(`### ${card.id}\n`);
    const section = own.split('\n### ')[0] ?? '';
    expect(section).toContain(card.licence);
    expect(section.split('Known bad').length - 1).toBe(card.known_bad.length);
    for (const { sha256 } of card.copies) expect(section).toContain(sha256);
  }
});

test('every generated set has its options on it', () => {
  const generated = datasetsPage().split('## Generated sets\n')[1]!;
  for (const { id, kind, options } of datasetCatalogue()) {
    if (kind !== 'generated') continue;
    const own = generated.split(`### ${id}\n`)[1]?.split('\n### ')[0] ?? '';
    for (const { name, summary } of options) expect(own).toContain(`- \`${name}\`: ${summary}.`);
  }
});
