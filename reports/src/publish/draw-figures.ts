import { messageOf, PerwattError } from '@perwatt/core';
import type { Browser, Page } from 'playwright-core';
import type { Figure } from '../figure.js';
import { html, scriptText } from '../html.js';
import { normaliseSvg } from './normalise-svg.js';

/** One figure in the three forms of a publication. */
export interface DrawnFigure {
  readonly id: string;
  /** Ids numbered, so that the same figure is the same text. */
  readonly svg: string;
  /** Twice the size of the SVG. */
  readonly png: Uint8Array;
  readonly pdf: Uint8Array;
}

export interface DrawOptions {
  /** Path of Chromium or a browser made from it. */
  readonly executable: string;
  /** Text of plotly.js's minified bundle. */
  readonly plotlySource: string;
  /** px. Default 900 × 560. */
  readonly width?: number;
  readonly height?: number;
}

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--font-render-hinting=none',
  '--force-color-profile=srgb',
];

const policy =
  "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:";

/**
 * Draws figures in a headless browser without a network, each as SVG, PNG and PDF on white: in one browser, but each on a page of
 * its own, since the chart library remembers what it drew before. Throws `INPUT_INVALID` where the browser can't be started,
 * or a figure can't be drawn.
 */
export async function drawFigures(figures: readonly Figure[], options: DrawOptions): Promise<DrawnFigure[]> {
  const { executable, plotlySource, width = 900, height = 560 } = options;
  const browser = await started(executable);
  try {
    const context = await browser.newContext({
      viewport: { width, height },
      deviceScaleFactor: 2,
      colorScheme: 'light',
      offline: true,
    });
    const blank = html`<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"></head><body><div id="plot"></div><script>${scriptText(plotlySource)}</script></body></html>`;
    const paper = await context.newPage();
    const drawn: DrawnFigure[] = [];
    for (const figure of figures) {
      const page = await context.newPage();
      await page.setContent(blank.markup);
      drawn.push(await drawOne(figure, { page, paper, width, height }));
      await page.close();
    }
    return drawn;
  } finally {
    await browser.close();
  }
}

async function started(executablePath: string): Promise<Browser> {
  try {
    const { chromium } = await import('playwright-core');
    return await chromium.launch({ executablePath, args: flags });
  } catch (cause) {
    throw new PerwattError(
      'INPUT_INVALID',
      `the browser ${executablePath} cannot be started: ${messageOf(cause)}`,
      {
        hint: 'Name a working Chromium or Chrome, or leave the figures out with `--no-figures`.',
        cause,
      },
    );
  }
}

interface Place {
  readonly page: Page;
  readonly paper: Page;
  readonly width: number;
  readonly height: number;
}

/** Layout on white paper: what the report leaves to the page it stands in. */
const onPaper = (layout: object, { width, height }: Pick<Place, 'width' | 'height'>) => {
  const axis = { gridcolor: '#dddddd', zerolinecolor: '#dddddd', linecolor: '#888888', automargin: true };
  const given = layout as Readonly<Record<string, object | undefined>>;
  return {
    ...layout,
    width,
    height,
    paper_bgcolor: '#ffffff',
    plot_bgcolor: '#ffffff',
    font: { family: '"DejaVu Sans", sans-serif', size: 13, color: '#1a1a1a' },
    margin: { l: 64, r: 24, t: 24, b: 64 },
    legend: { orientation: 'h', y: -0.2, yanchor: 'top', x: 0 },
    xaxis: { ...axis, ...given['xaxis'] },
    yaxis: { ...axis, ...given['yaxis'] },
  };
};

async function drawOne({ id, data, layout }: Figure, place: Place): Promise<DrawnFigure> {
  const { page, paper, width, height } = place;
  const spec = JSON.stringify({ data, layout: onPaper(layout, place), config: { staticPlot: true } });
  try {
    const drawn = (await page.evaluate(
      `(async (text) => {
        const { data, layout, config } = JSON.parse(text);
        const place = document.getElementById('plot');
        await Plotly.newPlot(place, data, layout, config);
        const url = await Plotly.toImage(place, { format: 'svg', width: layout.width, height: layout.height });
        return decodeURIComponent(url.slice(url.indexOf(',') + 1));
      })(${JSON.stringify(spec)})`,
    )) as string;
    const svg = `${normaliseSvg(drawn)}\n`;
    await paper.setContent(
      `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"><style>@page{size:${width}px ${height}px;margin:0}html,body{margin:0;background:#fff}svg{display:block}</style></head><body>${svg}</body></html>`,
    );
    const clip = { x: 0, y: 0, width, height };
    const png = await paper.screenshot({ type: 'png', clip });
    const pdf = await paper.pdf({
      width: `${width}px`,
      height: `${height}px`,
      printBackground: true,
      pageRanges: '1',
    });
    return { id, svg, png: new Uint8Array(png), pdf: undated(pdf) };
  } catch (cause) {
    throw new PerwattError('INPUT_INVALID', `figure "${id}" cannot be drawn: ${messageOf(cause)}`, {
      hint: 'Leave the figures out with `--no-figures`.',
      cause,
    });
  }
}

/** A PDF without the time at which it was made: the same figure is then the same file. */
export function undated(pdf: Uint8Array): Uint8Array {
  const text = Buffer.from(pdf).toString('latin1');
  const same = text.replace(/(?<=\/(?:CreationDate|ModDate) ?\(D:)\d{14}/g, '19700101000000');
  return new Uint8Array(Buffer.from(same, 'latin1'));
}
