/** How the counts of a server stand to those of a local tokenizer, over the same texts. */
export interface TokenAgreement {
  /** Texts that both counted. */
  readonly compared: number;
  readonly server_tokens: number;
  readonly local_tokens: number;
  /** (server − local) / local; null when the local count is 0. */
  readonly difference_ratio: number | null;
  /** Whether they are more than 10 % apart. */
  readonly differs: boolean;
}

/** Share by which two counts may be apart. */
export const TOKEN_TOLERANCE = 0.1;

/** Compares counts of the same texts in pairs; null when there are none. */
export function tokenAgreement(
  pairs: readonly { readonly server: number; readonly local: number }[],
): TokenAgreement | null {
  if (pairs.length === 0) return null;
  const server_tokens = pairs.reduce((sum, { server }) => sum + server, 0);
  const local_tokens = pairs.reduce((sum, { local }) => sum + local, 0);
  const difference_ratio = local_tokens === 0 ? null : (server_tokens - local_tokens) / local_tokens;
  const differs =
    difference_ratio === null ? server_tokens > 0 : Math.abs(difference_ratio) > TOKEN_TOLERANCE;
  return { compared: pairs.length, server_tokens, local_tokens, difference_ratio, differs };
}
