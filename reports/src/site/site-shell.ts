import { createHash } from 'node:crypto';
import { type Html, html, scriptJson } from '../html.js';
import type { SitePage } from './site-page.js';
import { siteStyle } from './site-style.js';

/** What all pages of a site share. */
export interface SiteFrame {
  /** Name of the site, beside the mark. */
  readonly name: string;
  /** Pages of the navigation, in order. */
  readonly pages: readonly Pick<SitePage, 'id' | 'title'>[];
  /** Below every page: what was run, with what. */
  readonly footer: Html;
}

/** Where the files that pages share lie, from the site's root. */
export const sharedFiles = { plotly: 'assets/plotly.js', script: 'assets/site.js' } as const;

/**
 * A number that only this page's own scripts carry: made of all that the page says, so that no text within it can know
 * it. Nothing else is run, fetched, sent or framed.
 */
const nonceOf = (parts: readonly string[]): string =>
  parts
    .reduce((hash, part) => hash.update(part).update('\0'), createHash('sha256'))
    .digest('base64url')
    .slice(0, 32);

const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

const dataBlock = (id: string, value: unknown): Html =>
  html`<script type="application/json" id="${id}">${scriptJson(value)}</script>`;

const mark = html`<svg class="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M13 2 4 14h6l-1 8 9-12h-6z" fill="currentColor"/></svg>`;

/** The page that the navigation marks as the present one: a cell belongs to the results. */
const sectionOf = (id: string): string => (id.startsWith('cells/') ? 'results' : id);

function header({ name, pages }: SiteFrame, id: string, root: string): Html {
  const links = pages.map((page) => {
    const current = page.id === sectionOf(id) ? html` aria-current="page"` : html``;
    return html`<li><a href="${root}${page.id}.html"${current}>${page.title}</a></li>`;
  });
  return html`<header class="bar"><div class="bar-in"><a class="brand" href="${root}index.html">${mark}<span>Perwatt</span><span class="brand-name">${name}</span></a>
<button type="button" class="theme" data-theme-switch aria-pressed="false" aria-label="Dark colours" title="Light or dark"><svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true"><path d="M12 3a9 9 0 1 0 0 18zM12 1a11 11 0 1 1 0 22 11 11 0 0 1 0-22z" fill="currentColor"/></svg></button>
<nav aria-label="Pages"><ul>${links}</ul></nav></div></header>`;
}

/** A page of a site as a file: a content policy keeps the network out and every script but the site's own two from running. */
export function sitePageHtml(page: SitePage, frame: SiteFrame): string {
  const { id, title, body, figures, data = {} } = page;
  const root = id.includes('/') ? '../' : '';
  const blocks = [
    dataBlock('figures', figures),
    ...Object.entries(data).map(([name, value]) => dataBlock(`data-${name}`, value)),
  ];
  const heading = page.heading ?? title;
  const draws = figures.length > 0 || 'pareto' in data;
  const nonce = nonceOf([id, heading, frame.name, body.markup, ...blocks.map(({ markup }) => markup)]);
  const library = draws
    ? html`<script nonce="${nonce}" src="${root}${sharedFiles.plotly}" defer></script>`
    : html``;
  return html`<!doctype html>
<html lang="en" data-root="${root}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policyOf(nonce)}">
<meta name="referrer" content="no-referrer"><meta name="color-scheme" content="light dark">
<title>${heading} · ${frame.name} · Perwatt</title><style>${{ markup: siteStyle }}</style>
${library}<script nonce="${nonce}" src="${root}${sharedFiles.script}" defer></script></head>
<body><a class="skip" href="#main">Skip to the contents</a>
${header(frame, id, root)}
<main id="main" tabindex="-1"><h1>${heading}</h1>
${body}
</main>
<footer class="foot"><div class="foot-in">${frame.footer}</div></footer>
${blocks}</body></html>
`.markup;
}
