import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@perwatt/core';

/** What the addon exports; generated from the Rust crate. */
export type KernelBinding = typeof import('../binding.cjs');

/** The addon, or why it isn't there. */
export type LoadedAddon =
  | { readonly binding: KernelBinding; readonly problem: null }
  | { readonly binding: null; readonly problem: string };

/** File of the addon, found alike from the sources and from the built package. */
export const addonPath = fileURLToPath(new URL('../perwatt-kernels.node', import.meta.url));

/** Loads the addon from `file`. Never throws. To be called in a process of its own only: drivers that it opens may end theirs. */
export function loadAddon(file: string = addonPath): LoadedAddon {
  try {
    return { binding: createRequire(import.meta.url)(file) as KernelBinding, problem: null };
  } catch (error) {
    const [line] = messageOf(error).split('\n');
    const absent = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
    return {
      binding: null,
      problem: absent ? 'the addon is not built' : `the addon cannot be loaded: ${line}`,
    };
  }
}
