import { commonScript } from './common-script.js';
import { figuresScript } from './figures-script.js';
import { paretoScript } from './pareto-script.js';
import { queriesScript } from './queries-script.js';
import { resultsScript } from './results-script.js';

/** What runs in the reader's browser: one file for all pages of a site; each part works on what its page has. */
export const siteScript = `'use strict';
(() => {
${[commonScript, resultsScript, queriesScript, paretoScript, figuresScript].map((part) => part.trim()).join('\n')}
})();
`;
