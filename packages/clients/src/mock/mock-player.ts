import { createRng, type Rng, seedFrom } from '@perwatt/core';
import type { Alarm } from './alarm.js';
import {
  answerBytes,
  choiceOf,
  chunkOf,
  eventBytes,
  eventText,
  filled,
  idOf,
  LAST_CHUNK,
  type Preassembled,
  preassembled,
  STREAM_HEAD,
  wordsOf,
} from './mock-bytes.js';
import { delayMs, type MockDelay } from './mock-delay.js';
import type { MockFailure, MockLogLine } from './mock-options.js';
import { type MockCounts, page } from './mock-pages.js';
import type { AnswerPlan } from './mock-plan.js';

/** Where an answer goes. */
export interface AnswerSink {
  readonly write: (bytes: Buffer | string) => void;
  /** The answer has ended as HTTP demands: the connection is free. */
  readonly free: () => void;
  readonly reset: () => void;
  readonly gone: () => boolean;
}

/** What every answer of a server shares. */
export interface Stage {
  readonly nowNs: () => bigint;
  readonly alarm: Alarm;
  readonly counts: MockCounts;
  readonly seed: number;
  readonly known: Map<string, Preassembled>;
  readonly log: ((line: MockLogLine) => void) | null;
  /** An answer has ended, and its slot is free. */
  readonly onEnd: () => void;
}

/** One answer being played. */
export interface Play {
  readonly n: number;
  readonly plan: AnswerPlan;
  readonly fail: MockFailure | null;
  readonly request_id: string | null;
  /** Whether it was the first request of its connection. */
  readonly fresh: boolean;
  readonly received_ns: bigint;
  readonly sink: AnswerSink;
}

/** Words come again after so many. */
const WORDS = 10;

const nowMs = (stage: Stage): number => Number(stage.nowNs()) / 1e6;
const eventsOf = ({ form }: AnswerPlan): number => Math.ceil(form.tokens / form.tokens_per_event);
const isAtOnce = (delay: MockDelay): boolean => delay.kind === 'constant' && delay.ms === 0;

/** Plays an answer from its turn on. Call it once a slot is taken; `onEnd` says when it is free. */
export function play(stage: Stage, given: Play): void {
  const rng = createRng(seedFrom(stage.seed, 'delays', given.n));
  const { plan } = given;
  const start_ms = nowMs(stage);
  const due_ms = start_ms + delay(stage, plan.ttft, { plan, rng });
  const whole = isAtOnce(plan.tpot) && plan.stream && given.fail === null;
  const step = () => {
    if (given.sink.gone()) end(stage, false);
    else if (whole) sendWhole(stage, given);
    else if (plan.stream) streamFrom(stage, given, { rng, due_ms, sent: [] });
    else sendLater(stage, given, { rng, due_ms });
  };
  if (isAtOnce(plan.ttft)) step();
  else stage.alarm.at(due_ms, step);
}

interface Luck {
  readonly plan: AnswerPlan;
  readonly rng: Rng;
}

const delay = ({ counts }: Stage, law: MockDelay, { plan, rng }: Luck): number =>
  delayMs(law, { rng, active: counts.running, prompt_tokens: plan.prompt_tokens });

function end({ counts, onEnd }: Stage, ok: boolean, plan?: AnswerPlan): void {
  if (!ok) counts.failed += 1;
  else if (plan?.finish_reason === 'length') counts.finished_length += 1;
  else counts.finished_stop += 1;
  onEnd();
}

/** Remembers what can be made once for all answers of a form. */
function remembered(stage: Stage, key: string, make: () => Preassembled): Preassembled {
  const known = stage.known.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (stage.known.size < 4096) stage.known.set(key, made);
  return made;
}

const formKey = ({ form, running_usage, prompt_tokens }: AnswerPlan): string =>
  `${form.chat}
${form.tokens}
${form.tokens_per_event}
${form.model}
${running_usage ? prompt_tokens : ''}`;

function sendWhole(stage: Stage, given: Play): void {
  const { n, plan, sink } = given;
  const at_ns = stage.nowNs();
  const id = idOf(n);
  const more = (tokens: number) => (plan.running_usage ? usageText(plan, tokens) : '');
  const body = remembered(stage, formKey(plan), () => answerBytes(plan.form, more));
  const tail = remembered(stage, `${formKey(plan)}\n${tailKey(plan)}`, () => preassembled(tailText(plan)));
  sink.write(Buffer.concat([filled(body, id, at_ns), filled(tail, id, at_ns)]));
  const sent = Array.from({ length: stage.log === null ? 0 : eventsOf(plan) }, () => at_ns);
  finish(stage, { ...given, sent, first_ns: at_ns, tokens: plan.form.tokens });
  sink.free();
}

const tailKey = (plan: AnswerPlan): string =>
  `${plan.finish_reason} ${plan.include_usage ? plan.prompt_tokens : ''}`;

const usageText = ({ prompt_tokens }: AnswerPlan, tokens: number): string =>
  `,"usage":{"prompt_tokens":${prompt_tokens},"total_tokens":${prompt_tokens + tokens},"completion_tokens":${tokens}}`;

/** The end of a streamed answer: finish reason, usage, `[DONE]`, last chunk of the transfer. */
function tailText(plan: AnswerPlan): string {
  const { form } = plan;
  const last = eventText(form, choiceOf(form, '', plan.finish_reason));
  const usage = plan.include_usage
    ? last.replace(/"choices":.*\n\n$/, `"choices":[]${usageText(plan, form.tokens)}}\n\n`)
    : '';
  return `${chunkOf(`${last}${usage}data: [DONE]\n\n`)}${LAST_CHUNK}`;
}

interface Finished extends Omit<Play, 'fail' | 'sink'> {
  readonly sent: readonly bigint[];
  readonly first_ns: bigint;
  readonly tokens: number;
}

function finish(stage: Stage, { n, plan, sent, first_ns, tokens, ...given }: Finished): void {
  const { received_ns, request_id, fresh } = given;
  stage.counts.generated_tokens += tokens;
  stage.counts.ttft_sum_s += Number(first_ns - received_ns) / 1e9;
  stage.log?.({
    id: idOf(n),
    request_id,
    fresh,
    received_ns: String(received_ns),
    sent_ns: sent.map(String),
  });
  end(stage, true, plan);
}

interface Stream {
  readonly rng: Rng;
  readonly due_ms: number;
  readonly sent: bigint[];
}

const isBroken = ({ fail, plan }: Play, sent: number): boolean =>
  fail !== null && sent >= Math.floor(eventsOf(plan) / 2);

function giveUp(stage: Stage, given: Play): void {
  if (given.sink.gone() || given.fail === null) end(stage, false);
  else breakOff(stage, given, given.fail);
}

/** Sends what is due, and sees to the rest. */
function streamFrom(stage: Stage, given: Play, { rng, due_ms, sent }: Stream): void {
  const { plan, sink } = given;
  let next_ms = due_ms;
  do {
    if (sink.gone() || isBroken(given, sent.length)) {
      giveUp(stage, given);
      return;
    }
    if (sendEvent(stage, given, sent)) {
      sink.free();
      return;
    }
    next_ms += delay(stage, plan.tpot, { plan, rng });
  } while (next_ms <= nowMs(stage));
  stage.alarm.at(next_ms, () => streamFrom(stage, given, { rng, due_ms: next_ms, sent }));
}

/** Sends one event; tells whether it was the last. */
function sendEvent(stage: Stage, given: Play, sent: bigint[]): boolean {
  const { plan, sink } = given;
  const total = eventsOf(plan);
  const at_ns = stage.nowNs();
  const last = sent.length + 1 >= total;
  sink.write(eventAt(stage, given, { i: sent.length, at_ns, last }));
  sent.push(at_ns);
  const first_ns = sent[0] ?? at_ns;
  if (last) finish(stage, { ...given, sent: total === 0 ? [] : sent, first_ns, tokens: plan.form.tokens });
  return last;
}

interface EventAt {
  readonly i: number;
  readonly at_ns: bigint;
  readonly last: boolean;
}

/** The bytes of the i-th event, with the head before the first and the tail behind the last. */
function eventAt(stage: Stage, { n, plan }: Play, { i, at_ns, last }: EventAt): Buffer {
  const { form } = plan;
  const first = i * form.tokens_per_event;
  const make = () => {
    const usage = plan.running_usage
      ? usageText(plan, Math.min(first + form.tokens_per_event, form.tokens))
      : '';
    const event = form.tokens === 0 ? null : eventBytes(form, first, usage);
    const text = `${i === 0 ? STREAM_HEAD : ''}${event?.bytes.toString() ?? ''}${last ? tailText(plan) : ''}`;
    return preassembled(text);
  };
  const alike = i > 0 && !last && !plan.running_usage;
  const place = alike ? `word ${first % WORDS}` : `${i} ${last} ${tailKey(plan)}`;
  const made = remembered(stage, `${formKey(plan)}\n${place}`, make);
  return filled(made, idOf(n), at_ns);
}

/** Fails in the middle of an answer. */
function breakOff(stage: Stage, { plan, sink }: Play, fail: MockFailure): void {
  const started = eventsOf(plan) >= 2;
  const head = started ? '' : STREAM_HEAD;
  if (fail === 'bad_json')
    sink.write(head + chunkOf('data: {"choices":[{"index":0,"delta":{"content":"x"\n\n') + LAST_CHUNK);
  if (fail === 'stream_error') {
    const error = JSON.stringify({ error: { message: 'the mock was told to fail', code: 500 } });
    sink.write(head + chunkOf(`data: ${error}\n\ndata: [DONE]\n\n`) + LAST_CHUNK);
  }
  if (fail === 'truncate') sink.write(head + LAST_CHUNK);
  end(stage, false);
  if (fail === 'reset') sink.reset();
  else if (fail !== 'stall') sink.free();
}

/** A whole answer in one body, once all of its tokens have had their time. */
function sendLater(stage: Stage, given: Play, { rng, due_ms }: Omit<Stream, 'sent'>): void {
  const { plan, sink, n } = given;
  let at_ms = due_ms;
  for (let i = 1; i < eventsOf(plan); i++) at_ms += delay(stage, plan.tpot, { plan, rng });
  const send = () => {
    if (sink.gone()) {
      end(stage, false);
      return;
    }
    const at_ns = stage.nowNs();
    sink.write(page(200, wholeBody(plan, idOf(n))));
    finish(stage, { ...given, sent: [], first_ns: at_ns, tokens: plan.form.tokens });
    sink.free();
  };
  if (at_ms > nowMs(stage)) stage.alarm.at(at_ms, send);
  else send();
}

function wholeBody(plan: AnswerPlan, id: string): string {
  const { form, prompt_tokens, finish_reason } = plan;
  const text = wordsOf(0, form.tokens);
  const said = form.chat ? { message: { role: 'assistant', content: text } } : { text };
  return JSON.stringify({
    id,
    object: form.chat ? 'chat.completion' : 'text_completion',
    created: 0,
    model: form.model,
    choices: [{ index: 0, ...said, finish_reason }],
    usage: {
      prompt_tokens,
      total_tokens: prompt_tokens + form.tokens,
      completion_tokens: form.tokens,
    },
  });
}
