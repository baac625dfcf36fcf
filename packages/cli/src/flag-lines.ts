import { explainFlag, flagsOf, type PowerFlag, type RecorderStatus } from '@perwatt/core';

/** A flag of a source, in plain words, as `--json` prints it. */
export interface ExplainedFlag extends PowerFlag {
  readonly flag: string;
}

/** What a recorder has to say, explained. */
export const explainedFlags = (status: RecorderStatus): ExplainedFlag[] =>
  flagsOf(status).map((flag) => ({ flag, ...explainFlag(flag) }));

interface Source {
  readonly source: string;
  status(): RecorderStatus;
}

/** One line a flag for people: which source, what is the matter, and what would mend it. */
export const flagLines = (recorders: readonly Source[]): string[] =>
  recorders.flatMap((recorder) =>
    explainedFlags(recorder.status()).flatMap(({ text, fix }) => [
      `flag: ${recorder.source}: ${text}`,
      ...(fix === null ? [] : [`      ${fix}`]),
    ]),
  );

/** A recorder's status for machines, its flags explained beside it. */
export function statusJson(recorder: Source & { readonly period_ns: number }) {
  const status = recorder.status();
  return {
    source: recorder.source,
    period_ns: recorder.period_ns,
    ...status,
    explained_flags: explainedFlags(status),
  };
}
