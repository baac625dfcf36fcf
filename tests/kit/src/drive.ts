import { type CallRequest, type CallResult, instant, type Outcome } from '@perwatt/core';

/** One answer of the script: the text of a call that went well, or parts of a result, such as how it failed. */
export type Scripted =
  | string
  | Partial<Pick<CallResult, 'text' | 'finish' | 'error_code' | 'usage' | 'tool_calls' | 'mean_logprob'>>;

/** Answers a query's calls: a list in the order the calls are made, or what each call is answered with. */
export type Script = readonly Scripted[] | ((call: CallRequest) => Scripted | undefined);

/** Runs a query to its end on scripted answers. Throws when the script has none for a call. */
export async function drive(
  query: AsyncGenerator<readonly CallRequest[], Outcome, readonly CallResult[]>,
  script: Script,
): Promise<{ readonly batches: readonly (readonly CallRequest[])[]; readonly outcome: Outcome }> {
  const listed = typeof script === 'function' ? null : script.values();
  const said = (call: CallRequest) => (typeof script === 'function' ? script(call) : listed?.next().value);
  const batches: (readonly CallRequest[])[] = [];
  let step = await query.next();
  while (!step.done) {
    batches.push(step.value);
    step = await query.next(step.value.map((call) => answer(call, said(call))));
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
