import type { Fields } from './fields.js';
import { type Computed, unsupported } from './outcome.js';

/** Runs a `decode` fixture through the decoder of the source it names. */
export const decodeCase = (input: Fields): Computed =>
  unsupported(`no built decoder reads ${input.text('source')}`);
