export { plurality, type Vote } from './plurality.js';
export { type RecordedCall, replayQuery } from './replay-query.js';
export { selfConsistency } from './self-consistency.js';
export { single } from './single.js';
export { strategies, strategyById } from './strategies.js';
export { strategyIndex, strategyPage } from './strategy-page.js';
