import { ensureAddon, type KernelProgram, kernelProgram } from '@perwatt/kernels';
import type { HostFacts } from '@perwatt/records';
import type { Io } from '../io.js';

/** Where the runners of kernels come from; tests bring their own. */
export interface KernelsWorld {
  /** Builds what is missing. Throws `KERNELS_MISSING`. */
  readonly ensure: (onProgress: (line: string) => void) => Promise<boolean>;
  /** The program that drives devices. */
  readonly program: () => KernelProgram;
  readonly hostFacts: () => HostFacts | null;
  /** A seed nobody chose. */
  readonly freshSeed: () => number;
  /** Name of the weight file of a model that is fetched by its id; null for any other name. */
  readonly weightFile: (id: string) => string | null;
  readonly version: string;
}

/** The world as it is. */
export const realKernelsWorld = (
  io: Io,
  { version, hostFacts, weightFile }: Pick<KernelsWorld, 'version' | 'hostFacts' | 'weightFile'>,
): KernelsWorld => ({
  ensure: (onProgress) => ensureAddon({ env: io.env, signal: io.signal, onProgress }),
  program: kernelProgram,
  hostFacts,
  freshSeed: () => Math.floor(Math.random() * 2 ** 31),
  weightFile,
  version,
});

/** Builds the runners where they are missing, and says what takes so long. */
export async function readyKernelRunners(io: Pick<Io, 'printError'>, world: KernelsWorld): Promise<void> {
  let told = false;
  await world.ensure((line) => {
    if (!told) io.printError('building the kernel runners: some minutes, once');
    told = true;
    if (line.trim() !== '') io.printError(`  ${line.trim()}`);
  });
}

/** Does `work`; an interruption of it ends it quietly with exit code 130. */
export async function interruptible(
  io: Pick<Io, 'signal' | 'setExitCode'>,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    const aborted = error === io.signal.reason || (error instanceof Error && error.name === 'AbortError');
    if (!io.signal.aborted || !aborted) throw error;
    io.setExitCode(130);
  }
}
