import { Command } from 'commander';
import type { Io } from '../io.js';
import { kernelsFitCommand } from './kernels-fit.js';
import { kernelsListCommand } from './kernels-list.js';
import { kernelsRooflineCommand } from './kernels-roofline.js';
import { kernelsRunCommand } from './kernels-run.js';
import { kernelsSelftestCommand } from './kernels-selftest.js';
import type { KernelsWorld } from './kernels-world.js';

const help = `
The runners are built with cargo when they are first needed, some minutes, or ahead of time by \`npm run build:kernels\`. A
machine without Vulkan, CUDA or a BLAS runs what it can: \`perwatt kernels list\` says what and why not the rest.

docs/kernels.md says how kernels are counted, timed, metered and checked.`;

/** `perwatt kernels`: the kernels that inference is made of. */
export const kernelsCommand = (io: Io, world: KernelsWorld): Command =>
  new Command('kernels')
    .description('Run the kernels that inference is made of: time and energy against a measured roofline')
    .addHelpText('after', help)
    .addCommand(kernelsListCommand(io, world))
    .addCommand(kernelsRunCommand(io, world))
    .addCommand(kernelsSelftestCommand(io, world))
    .addCommand(kernelsRooflineCommand(io))
    .addCommand(kernelsFitCommand(io));
