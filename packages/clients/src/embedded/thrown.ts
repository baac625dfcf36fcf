// The engine's process loads nothing but this folder, so that it starts fast: hence no import of the core's helpers.

/** What an unknown thrown value says of itself. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The system's error code of an unknown thrown value, or null. */
export const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
