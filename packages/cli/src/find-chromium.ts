import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PerwattError } from '@perwatt/core';
import type { Io } from './io.js';

const names = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
  'chromium.exe',
  'chrome.exe',
];

const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** What to do where there is no browser. */
export const CHROMIUM_HINT =
  'Install Chromium (Debian: `apt install chromium`) or Chrome, or name one in PERWATT_CHROMIUM.';

/**
 * Path of a Chromium or Chrome: the one that `PERWATT_CHROMIUM` names, else the first on the path or in the usual places;
 * null where there is none. Throws `INPUT_INVALID` when the one that is named isn't there.
 */
export function findChromium({ env }: Pick<Io, 'env'>): string | null {
  const named = env['PERWATT_CHROMIUM'];
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named;
    throw new PerwattError('INPUT_INVALID', `PERWATT_CHROMIUM names ${named}, which is not there`, {
      hint: CHROMIUM_HINT,
    });
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const onPath = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return [...onPath, ...places].find((path) => existsSync(path)) ?? null;
}
