/** What one fixture came to, in the shape of its `expect`. */
export type Computed = Readonly<Record<string, unknown>>;

/** A fixture that no built code can run: said, never guessed. */
export const unsupported = (reason: string): Computed => ({ unsupported: reason });

/** Seconds as whole nanoseconds. */
export const ns = (seconds: number): number => Math.round(seconds * 1e9);
