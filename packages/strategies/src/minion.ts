import type { CallRequest, CallResult, Message, Strategy, StrategyContext } from '@perwatt/core';
import * as z from 'zod';
import { askChat, assistant, hasText, opening, user } from './attempt.js';
import { objectIn } from './hermes.js';
import { endpointName, parameters, samplingFields } from './params.js';
import { outcomeOf } from './votes.js';

/** Parameters of a talk between a supervisor without the document and a worker with it. */
export const MinionParams = z.strictObject({
  max_rounds: z
    .int()
    .min(1)
    .max(32)
    .default(3)
    .describe('Questions of the supervisor; the last must be answered finally'),
  supervisor: endpointName
    .default('strong')
    .describe('Endpoint of the supervisor, which never sees the passages'),
  worker: endpointName.default('weak').describe('Endpoint of the worker, which reads them all'),
  ...samplingFields(0),
});
/** Parameters that were checked, defaults filled in. */
export type MinionParams = z.infer<typeof MinionParams>;

const form = `Reply with one JSON object: {"reasoning": "…", "decision": "request_additional_info" or "provide_final_answer", "message": "your question to the reader, or the final answer in the form that the task asks for"}.`;
const supervisorBrief = `You solve a task about a document that you can't see. A reader has it and answers your questions, one at a time. ${form}`;
const forced = `This was the last question. Reply now with decision "provide_final_answer".`;

/**
 * A supervisor asks a worker that has the document until it can answer. No passage reaches the supervisor but through the worker's
 * words. An answer of the supervisor that is no JSON is taken for the final answer as it stands.
 */
export const minion: Strategy<MinionParams> = {
  id: 'minion',
  version: 1,
  summary: 'a strong model without the document questions a weak one that has it',
  needs: ({ supervisor, worker }) => ({ endpoints: [...new Set([supervisor, worker])] }),
  params: parameters('minion', MinionParams),
  calls: ({ max_rounds }) => 2 * max_rounds + 1,
  async *run(item, params, context) {
    const { material } = item;
    if (material === undefined)
      return { status: 'failed', reason: 'the item has no passages apart from its task', candidates: [] };
    const talk: Talk = {
      messages: opening(
        material.task,
        [...(params.system === undefined ? [] : [params.system]), supervisorBrief].join('\n\n'),
      ),
      document: material.passages.map(({ key, text }) => `[${key}]\n${text}`).join('\n\n'),
      key: item.id,
      last: [],
    };
    for (let round = 0; ; round++) {
      const last = round === params.max_rounds;
      if (last) talk.messages.push(user(forced));
      const [said] = yield [supervisorCall(talk, round, { params, context })];
      const word = wordOf(said);
      if (said === undefined || word === null || word.final || last)
        return finalOutcome(said, word?.message ?? null, round);
      talk.last = [said.id];
      const [answer] = yield [workerCall(talk, { round, question: word.message }, { params, context })];
      hear(talk, said, answer);
    }
  },
};

function hear(talk: Talk, said: CallResult, answer: CallResult | undefined): void {
  if (answer !== undefined) talk.last = [answer.id];
  const heard = answer !== undefined && hasText(answer) ? answer.text : '(the reader gave no answer)';
  talk.messages.push(assistant(said.text), user(`The reader says:\n${heard}`));
}

interface Talk {
  readonly messages: Message[];
  readonly document: string;
  readonly key: string;
  /** The call that the next one follows. */
  last: readonly string[];
}

interface Asking {
  readonly params: MinionParams;
  readonly context: StrategyContext;
}

const supervisorCall = ({ messages, last }: Talk, round: number, { params, context }: Asking): CallRequest =>
  askChat(
    {
      id: `supervisor-${round}`,
      parents: last,
      role: 'supervisor',
      endpoint: params.supervisor,
      messages: [...messages],
      round: 2 * round,
    },
    { params, context },
  );

const workerCall = (
  { document, key, last }: Talk,
  { round, question }: { readonly round: number; readonly question: string },
  { params, context }: Asking,
): CallRequest =>
  askChat(
    {
      id: `worker-${round}`,
      parents: last,
      role: 'worker',
      endpoint: params.worker,
      messages: opening(`${document}\n\nQuestion about these passages: ${question}`),
      round: 2 * round + 1,
      prefix_key: key,
    },
    { params, context },
  );

const wordOf = (said: CallResult | undefined): Word | null =>
  said === undefined || !hasText(said) ? null : readWord(said.text);

interface Word {
  readonly final: boolean;
  readonly message: string;
}

function readWord(text: string): Word {
  const object = objectIn(text);
  const message = object?.['message'] ?? object?.['answer'];
  if (typeof message !== 'string' || message.trim() === '') return { final: true, message: text };
  return { final: object?.['decision'] === 'provide_final_answer', message };
}

function finalOutcome(said: CallResult | undefined, message: string | null, round: number) {
  if (said === undefined || said.finish === 'error' || message === null) return outcomeOf(said, []);
  return outcomeOf({ ...said, text: message }, [], [`answered after ${round} questions`]);
}
