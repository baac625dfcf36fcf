export { choice } from './choice.js';
export { exact } from './exact.js';
export { createGraderPool, type GraderPool, type GraderPoolOptions } from './grader-pool.js';
export { graderById, graders } from './graders.js';
export { math } from './math.js';
export { numeric } from './numeric.js';
