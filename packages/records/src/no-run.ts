import { PerwattError } from '@perwatt/core';
import { hasKernels } from './kernel-sessions.js';

/** That a folder has no `run.json`, at `file`; what else it holds is told where it is known. */
export const noRun = (path: string, file: string): PerwattError =>
  hasKernels(path)
    ? new PerwattError('RUN_NOT_FOUND', `${path} holds kernel sessions and no run`, {
        hint: 'Use `perwatt kernels roofline`, `query`, `export` or `verify` for it.',
      })
    : new PerwattError('RUN_NOT_FOUND', `no run at ${path}: ${file} is missing`);
