import * as z from 'zod';

/** What a name is made of, told to who writes another. */
export const letters = 'use letters, digits and . _ : + - only';
/** Names in a matrix file, with the problem of one that is none. */
export const namedBy = (problem: string) =>
  z
    .string()
    .min(1)
    .max(80)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:+-]*$/, problem);
/** A name in a matrix file: a value of an axis, a server, a meter. */
export const name = namedBy(letters);
