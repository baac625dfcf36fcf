import type { LoadColumns, TokenCounter } from '@perwatt/core';
import type { LoadRowArrays, TurnFact } from '@perwatt/harness';
import { type TokenAgreement, tokenAgreement } from '@perwatt/metrics';
import type { RunFolder } from '@perwatt/records';

interface Compared {
  readonly answer: string;
  readonly server: number;
}

/** Gathers answers while a replay lasts, and counts their tokens when it is over: counting would disturb what is measured. */
export interface TokenCheck {
  take(left: LoadRowArrays, columns: LoadColumns, facts: readonly TurnFact[] | null): void;
  /** Counts, and writes what came of it into the cell; a difference above 10 % flags it. */
  settle(run: RunFolder, cell_id: string, counter: TokenCounter & { readonly label: string }): Promise<void>;
}

/** A check with nothing gathered yet. */
export function tokenCheck(): TokenCheck {
  const answers: Compared[] = [];
  const prompts: { readonly server: number; readonly local: number }[] = [];
  const compare = (left: LoadRowArrays, columns: LoadColumns, i: number, { answer, row }: TurnFact) => {
    const server = outputTokens(columns, i);
    if (answer !== null && server !== null) answers.push({ answer, server });
    const [prompt, local] = [promptTokens(columns, i), madeTokens(left, row)];
    if (prompt !== null && local !== null) prompts.push({ server: prompt, local });
  };
  return {
    take(left, columns, facts) {
      for (const [i, fact] of (facts ?? []).entries())
        if (fact.answer !== null) compare(left, columns, i, fact);
    },
    async settle(run, cell_id, counter) {
      const pairs: { readonly server: number; readonly local: number }[] = [];
      for (const { answer, server } of answers) pairs.push({ server, local: await counter.count(answer) });
      note(run, cell_id, {
        counter: counter.label,
        answers: tokenAgreement(pairs),
        prompts: tokenAgreement(prompts),
      });
    },
  };
}

/** Output tokens of a call by the server; null where the server did not count. */
function outputTokens({ completion_tokens, token_source }: LoadColumns, i: number): number | null {
  const source = token_source.valid[i] === 1 ? token_source.names[token_source.indices[i] ?? 0] : null;
  return source === 'server_usage' && completion_tokens.valid[i] === 1
    ? (completion_tokens.values[i] ?? null)
    : null;
}

const promptTokens = ({ prompt_tokens }: LoadColumns, i: number): number | null =>
  prompt_tokens.valid[i] === 1 ? (prompt_tokens.values[i] ?? null) : null;

const madeTokens = ({ turns }: LoadRowArrays, index: number): number | null =>
  turns?.texts?.tokens?.[turns.slot[index] ?? 0] ?? null;

interface TokenFacts {
  readonly counter: string;
  readonly answers: TokenAgreement | null;
  readonly prompts: TokenAgreement | null;
}

function note(run: RunFolder, cell_id: string, tokens: TokenFacts): void {
  const cell = run.readCell(cell_id);
  if (cell.replay === undefined) return;
  const reasons = [
    ...reasonOf('answers', tokens.answers, tokens.counter),
    ...reasonOf('prompts', tokens.prompts, tokens.counter),
  ];
  const verdict =
    cell.verdict === null || reasons.length === 0
      ? cell.verdict
      : {
          state: cell.verdict.state === 'invalid' ? ('invalid' as const) : ('flagged' as const),
          reasons: [...cell.verdict.reasons, ...reasons],
        };
  run.writeCell({ ...cell, verdict, replay: { ...cell.replay, tokens } });
}

function* reasonOf(what: string, agreement: TokenAgreement | null, counter: string) {
  if (agreement === null || !agreement.differs) return;
  const { compared, server_tokens, local_tokens } = agreement;
  yield {
    code: 'token_count_differs',
    text: `the server counts ${server_tokens} tokens in ${compared} ${what}, ${counter} ${local_tokens}`,
    fix: "Name the target's own tokenizer, or `--template-tokens` where its chat template adds some.",
  };
}
