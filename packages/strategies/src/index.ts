export { SelfConsistencyParams, SingleParams } from './params.js';
export { plurality, type Vote } from './plurality.js';
export { selfConsistency } from './self-consistency.js';
export { single } from './single.js';
export { strategies, strategyById } from './strategies.js';
