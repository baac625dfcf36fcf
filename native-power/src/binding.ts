import { createRequire } from 'node:module';
import { messageOf } from '@perwatt/core';

/** What the addon exports; generated from the Rust crate. */
export type Binding = typeof import('../binding.cjs');

/** The addon, or why it isn't there. */
export type Loaded =
  | { readonly binding: Binding; readonly problem: null }
  | { readonly binding: null; readonly problem: string };

const load = (): Loaded => {
  try {
    return { binding: createRequire(import.meta.url)('../perwatt-power.node'), problem: null };
  } catch (error) {
    const [line] = messageOf(error).split('\n');
    const absent = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
    return {
      binding: null,
      problem: absent ? 'the addon is not built' : `the addon cannot be loaded: ${line}`,
    };
  }
};

/** Loaded once, when the first of our modules is imported. Never throws: without it there is a clock but no source. */
export const loaded: Loaded = load();

/** The command that builds it. */
export const buildFix = 'npm run build';
