import type { ProgramRun, SafeLanguage, StrategyContext } from '@perwatt/core';

/** The language of an item's programs. Throws `RangeError` when the context has none. */
export function languageOf({ language }: Pick<StrategyContext, 'language'>): SafeLanguage {
  if (language === undefined) throw new RangeError('the strategy needs a language and was given none');
  return language;
}

/** The program in an answer: its last fenced block, else the whole text. */
export const programIn = (text: string): string =>
  ([...text.matchAll(/```[a-z]*\n([\s\S]*?)```/g)].at(-1)?.[1] ?? text).trim();

/** An input with the output that belongs to it. */
export interface Example {
  readonly input: string;
  readonly output: string;
}

/** The examples that an item shows, from `data.examples`; empty when there are none. */
export function examplesOf(data: Readonly<Record<string, unknown>> | undefined): Example[] {
  const list = data?.['examples'];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const { input, output } = (entry ?? {}) as { readonly input?: unknown; readonly output?: unknown };
    return typeof input === 'string' && typeof output === 'string' ? [{ input, output }] : [];
  });
}

/** How a program does on examples. */
export interface Fitness {
  /** Share of examples whose output it gives, 0…1. */
  readonly share: number;
  /** Its outputs, null where it fails; tells programs apart that behave alike. */
  readonly outputs: readonly (string | null)[];
  readonly failure: string | null;
}

/** Runs a program on each example. */
export function fitnessOf(program: string, examples: readonly Example[], language: SafeLanguage): Fitness {
  const runs = examples.map(({ input }) => language.run(program, input));
  const right = runs.filter((run, i) => run.ok && run.output === examples[i]?.output).length;
  const failed = runs.find((run): run is Extract<ProgramRun, { readonly ok: false }> => !run.ok);
  return {
    share: examples.length === 0 ? 0 : right / examples.length,
    outputs: runs.map((run) => (run.ok ? run.output : null)),
    failure: failed?.reason ?? null,
  };
}
