import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from './cli.js';

const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: repository,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

const withoutCode = (page: string): string =>
  readFileSync(join(repository, page), 'utf8').replaceAll(/^```.*?^```/gms, '');

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

/** Anchors of a page; a heading that stands twice has a number from its second time on. */
function anchorsOf(page: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading] of withoutCode(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const anchor = anchorOf(heading ?? '');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`);
  }
  return anchors;
}

/** Links within the repository: of Markdown, images among them, without those in code. */
const linksOf = (page: string): string[] =>
  [
    ...withoutCode(page)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, target]) => target ?? '')
    .filter((target) => !/^[a-z]+:/.test(target));

function problemOf(page: string, link: string): string | null {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (!existsSync(join(repository, target))) return `${page}: ${link}: there is no ${target}`;
  if (anchor === undefined || anchorsOf(target).has(anchor)) return null;
  return `${page}: ${link}: ${target} has no heading of that name`;
}

test('every link of the pages leads to a file, and to a heading where it names one', () => {
  const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })));
  expect(links.length).toBeGreaterThan(100);
  expect(links.map(({ page, link }) => problemOf(page, link)).filter((text) => text !== null)).toEqual([]);
});

// biome-ignore format: a table is read in columns
test.each([
  ['A million rows',                    'a-million-rows',                   'words'],
  ['One query, `single`: what?',        'one-query-single-what',            'punctuation goes'],
  ['Energy — of a window',              'energy--of-a-window',              'a dash between blanks leaves two'],
  ['[Load](load.md) of prompt_tokens',  'load-of-prompt_tokens',            'a link is its text; underscores stay'],
])('the heading %j has the anchor %j: %s', (heading, anchor) => {
  expect(anchorOf(heading)).toBe(anchor);
});
