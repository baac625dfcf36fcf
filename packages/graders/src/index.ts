export { choice } from './choice.js';
export { type CodeLimits, openSandbox, type Sandbox, type SandboxPlace } from './code/sandbox.js';
export { type CodeGraderOptions, codeGrader } from './code.js';
export { exact } from './exact.js';
export { createGraderPool, type GraderPool, type GraderPoolOptions } from './grader-pool.js';
export { graderById, graders } from './graders.js';
export { math } from './math.js';
export { numeric } from './numeric.js';
