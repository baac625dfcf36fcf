import { type CallRequest, type CallResult, instant, type Outcome } from '@perwatt/core';

/** One answer of the script: the text of a call that went well, or parts of a result, such as how it failed. */
export type Scripted = string | Partial<Pick<CallResult, 'text' | 'finish' | 'error_code' | 'usage'>>;

/** Runs a query to its end on scripted answers, given in the order the calls are made. Throws when the script is too short. */
export async function drive(
  query: AsyncGenerator<readonly CallRequest[], Outcome, readonly CallResult[]>,
  script: readonly Scripted[],
): Promise<{ readonly batches: readonly (readonly CallRequest[])[]; readonly outcome: Outcome }> {
  const answers = script.values();
  const batches: (readonly CallRequest[])[] = [];
  let step = await query.next();
  while (!step.done) {
    batches.push(step.value);
    step = await query.next(step.value.map((call) => answer(call, answers.next().value)));
  }
  return { batches, outcome: step.value };
}

function answer(call: CallRequest, scripted: Scripted | undefined): CallResult {
  if (scripted === undefined) throw new Error(`the script has no answer left for call ${call.id}`);
  const parts = typeof scripted === 'string' ? { text: scripted } : scripted;
  const finish = parts.finish ?? (parts.error_code === undefined ? 'stop' : 'error');
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  return { id: call.id, text: '', usage, ...parts, finish, sent_ns: instant(0n), end_ns: instant(1n) };
}
