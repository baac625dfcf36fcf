import type { CallRequest, CallResult, Material, Outcome, Strategy, StrategyContext } from '@perwatt/core';
import * as z from 'zod';
import { askChat, failureOf, hasText, opening } from './attempt.js';
import { objectIn } from './hermes.js';
import { chunksOf, JobPlan, planForm } from './minions-plan.js';
import { endpointName, parameters, type SamplingParams, samplingFields } from './params.js';
import { outcomeOf } from './votes.js';

/** Parameters of a supervisor that plans jobs over a document. */
export const MinionsParams = z.strictObject({
  max_rounds: z.int().min(1).max(16).default(5).describe('Most rounds of plan, jobs and synthesis'),
  max_jobs: z.int().min(1).max(2048).default(64).describe('Most jobs of one round'),
  supervisor: endpointName
    .default('strong')
    .describe('Endpoint of the supervisor, which never sees the passages'),
  worker: endpointName.default('weak').describe('Endpoint of the workers'),
  ...samplingFields(0),
});
/** Parameters that were checked, defaults filled in. */
export type MinionsParams = z.infer<typeof MinionsParams>;

interface Round {
  readonly material: Material;
  readonly params: MinionsParams & SamplingParams;
  readonly context: StrategyContext;
  round: number;
  readonly notes: string[];
  /** The call that the next one follows. */
  last: readonly string[];
}

type Batches<T> = AsyncGenerator<readonly CallRequest[], T, readonly CallResult[]>;

/** One worker's finding; those without an answer are left out. */
interface Finding {
  readonly task: string;
  readonly answer: string;
  readonly citation: string;
}

/**
 * A supervisor that can't see the document plans jobs, chunks × tasks × samples; workers do them in parallel; the supervisor puts
 * their findings together, or plans again. The plan is data in a fixed form. Of the document only workers' citations and answers
 * reach the supervisor. Findings that are no JSON are dropped and counted.
 */
export const minions: Strategy<MinionsParams> = {
  id: 'minions',
  version: 1,
  summary: 'a strong model plans jobs over a document, weak ones do them, it puts their findings together',
  needs: ({ supervisor, worker }) => ({ endpoints: [...new Set([supervisor, worker])] }),
  params: parameters('minions', MinionsParams),
  calls: ({ max_rounds, max_jobs }) => max_rounds * (2 + max_jobs),
  async *run(item, params, context) {
    const { material } = item;
    if (material === undefined)
      return { status: 'failed', reason: 'the item has no passages apart from its task', candidates: [] };
    const now: Round = { material, params, context, round: 0, notes: [], last: [] };
    for (; now.round < params.max_rounds; now.round++) {
      const outcome = yield* oneRound(now);
      if (outcome !== null) return outcome;
      now.notes.push(`round ${now.round + 1}: the supervisor asked for another`);
    }
    return { status: 'abstained', reason: 'no final answer', candidates: [] };
  },
};

async function* oneRound(now: Round): Batches<Outcome | null> {
  const plan = yield* planned(now);
  if ('failed' in plan) return outcomeOf(plan.failed, []);
  const findings = plan.plan === null ? [] : yield* worked(now, plan.plan);
  const { said, answer } = yield* synthesised(now, findings);
  if (said === undefined || said.finish === 'error') return outcomeOf(said, []);
  now.last = [said.id];
  const last = now.round === now.params.max_rounds - 1;
  return answer === null && !last
    ? null
    : outcomeOf({ ...said, text: answer ?? said.text }, [], [...now.notes]);
}

async function* planned(
  now: Round,
): Batches<{ readonly plan: JobPlan | null } | { readonly failed: CallResult | undefined }> {
  const { material, params, round, last, notes } = now;
  const chars = material.passages.reduce((sum, p) => sum + p.text.length, 0);
  const [said] = yield [
    askChat(
      {
        id: `plan-${round}`,
        parents: last,
        role: 'supervisor',
        endpoint: params.supervisor,
        messages: opening(
          `A task about a document of ${chars} characters in ${material.passages.length} passages, which you can't see:\n\n${material.task}\n\nPlan small jobs for readers who each see one piece of it. ${scratchpad(notes)}Reply with one JSON object of this form:\n${planForm}`,
          params.system,
        ),
        round: 3 * round,
      },
      now,
    ),
  ];
  if (said === undefined || said.finish === 'error') return { failed: said };
  now.last = [said.id];
  const read = JobPlan.safeParse(objectIn(said.text));
  if (read.success) return { plan: read.data };
  notes.push(`round ${round + 1}: the plan could not be read`);
  return { plan: null };
}

async function* worked(now: Round, plan: JobPlan): Batches<Finding[]> {
  const { material, params, round, last, notes } = now;
  const jobs = chunksOf(material, plan.chunker).flatMap((chunk) =>
    plan.tasks.flatMap((task) => Array.from({ length: plan.samples }, () => ({ chunk, task }))),
  );
  const kept = jobs.slice(0, params.max_jobs);
  const results = yield kept.map(({ chunk, task }, branch) =>
    askChat(
      {
        id: `job-${round}-${branch}`,
        parents: last,
        role: 'worker',
        endpoint: params.worker,
        messages: opening(
          `${chunk}\n\nJob, on the text above only: ${task.instruction}\n${task.advice}\nReply with one JSON object: {"explanation": "…", "citation": "words of the text", "answer": "…" or null when the text does not say}.`,
        ),
        round: 3 * round + 1,
        branch,
      },
      now,
    ),
  );
  const read = results.map((result) => (hasText(result) ? objectIn(result.text) : null));
  const malformed = read.filter((object) => object === null).length;
  const failed = results.filter((r) => r.finish === 'error');
  notes.push(
    `round ${round + 1}: ${kept.length} jobs${jobs.length > kept.length ? ` of ${jobs.length}` : ''}, ${malformed} without readable findings${failed[0] === undefined ? '' : `, ${failed.length} failed (${failureOf(failed[0])})`}`,
  );
  now.last = results.map((r) => r.id);
  return read.flatMap((object, i) => {
    const answer = object?.['answer'];
    if (answer === null || answer === undefined || `${answer as string}`.trim() === '') return [];
    const citation = typeof object?.['citation'] === 'string' ? object['citation'] : '';
    return [
      {
        task: kept[i]?.task.id ?? '',
        answer: typeof answer === 'string' ? answer : JSON.stringify(answer),
        citation,
      },
    ];
  });
}

async function* synthesised(
  now: Round,
  findings: readonly Finding[],
): Batches<{ readonly said: CallResult | undefined; readonly answer: string | null }> {
  const { material, params, round, notes } = now;
  const last = round === params.max_rounds - 1;
  const found = findings
    .map((f) => `- job ${f.task}: ${f.answer}${f.citation === '' ? '' : ` (“${f.citation}”)`}`)
    .join('\n');
  const way = last
    ? 'Reply with one JSON object: {"reasoning": "…", "answer": "the final answer in the form that the task asks for"}.'
    : 'Reply with one JSON object: {"reasoning": "…", "answer": "the final answer in the form that the task asks for", or null when the readers must look again}.';
  const [said] = yield [
    askChat(
      {
        id: `synthesis-${round}`,
        parents: now.last,
        role: 'supervisor',
        endpoint: params.supervisor,
        messages: opening(
          `${material.task}\n\nReaders of the document found:\n${found === '' ? '(nothing)' : found}\n\n${scratchpad(notes)}${way}`,
          params.system,
        ),
        round: 3 * round + 2,
      },
      now,
    ),
  ];
  if (said === undefined || !hasText(said)) return { said, answer: null };
  const object = objectIn(said.text);
  if (object === null) return { said, answer: said.text };
  const { answer } = object as { readonly answer?: unknown };
  if (answer === null || answer === undefined) return { said, answer: null };
  return { said, answer: typeof answer === 'string' ? answer : JSON.stringify(answer) };
}

const scratchpad = (notes: readonly string[]): string =>
  notes.length === 0 ? '' : `Notes so far: ${notes.join('; ')}. `;
