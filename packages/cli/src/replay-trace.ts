import type { Arrivals, TokenCounter } from '@perwatt/core';
import { PerwattError } from '@perwatt/core';
import { promptMaker, type TraceTable } from '@perwatt/datasets';
import {
  drawSchedule,
  type LoadRowArrays,
  sharedNumbers,
  sharedRows,
  type TurnArrays,
  traceSchedule,
} from '@perwatt/harness';
import { turnOf, turnOfPrompt, writeTexts } from './replay-texts.js';

/** What the rows of a trace are made into calls with. */
export interface TraceCalls {
  /** Null for a closed loop. */
  readonly arrivals: Arrivals | null;
  readonly seed: number;
  /** Lengths for rows that the trace has none for. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** Whether the conversations of the trace are played as such. Default: calls have nothing to do with one another. */
  readonly turns?: boolean;
  /** Default: the trace's texts where it has any and no input length is given. */
  readonly prompts?: 'made-up' | 'trace';
  /** File that texts are written to; without it there are none. */
  readonly textFile?: string;
  /** Tokens that the server adds around a prompt. Default 0. */
  readonly template_tokens?: number;
}

/** The calls of a trace, in order of their due times. Throws `INPUT_INVALID` where the trace lacks times, lengths or texts. */
export async function rowsOfTrace(
  table: TraceTable,
  options: TraceCalls,
  counter?: TokenCounter,
): Promise<LoadRowArrays> {
  const { arrivals } = options;
  const { indices, due_ns } = dueTimes(table, options);
  const said = saysTexts(table, options);
  const rows = sharedRows(indices.length, { timed: false });
  for (const [i, index] of indices.entries()) {
    rows.row[i] = table.row(index).row;
    rows.input_tokens[i] = said
      ? (table.input_tokens(index) ?? 0)
      : lengthOf(table.input_tokens(index), options.input_tokens, 'input');
    rows.output_tokens[i] = lengthOf(table.output_tokens(index), options.output_tokens, 'output');
  }
  const calls = {
    ...rows,
    due_ns: arrivals === null ? rows.due_ns : due_ns,
    blocks: said ? null : blocksOf(table, indices),
  };
  return { ...calls, turns: await turnsOf(table, { calls, indices, said, counter }, options) };
}

/** Whether prompts are the texts of the trace. Throws `INPUT_INVALID` where they are asked for and not there. */
function saysTexts(table: TraceTable, { prompts, input_tokens, textFile }: TraceCalls): boolean {
  const there = textFile !== undefined && table.text(0) !== null;
  if (prompts === 'trace' && !there)
    throw new PerwattError('INPUT_INVALID', `trace ${table.meta.path} carries no texts`, {
      hint: 'Leave `--prompts` out: prompts are made up in the lengths of the trace.',
    });
  return there && (prompts === 'trace' || (prompts === undefined && input_tokens === null));
}

interface Making {
  readonly calls: LoadRowArrays;
  readonly indices: Uint32Array;
  readonly said: boolean;
  readonly counter: TokenCounter | undefined;
}

/** Conversations and texts of the calls; null where calls are on their own and prompts are made up when they are sent. */
async function turnsOf(table: TraceTable, making: Making, options: TraceCalls): Promise<TurnArrays | null> {
  const { indices, said, counter } = making;
  const counted = counter !== undefined && !said && options.textFile !== undefined;
  if (options.turns === true) checkParents(table);
  if (options.turns !== true && !said && !counted) return null;
  const parent = new Int32Array(new SharedArrayBuffer(4 * table.length));
  const row = sharedNumbers(table.length);
  for (let place = 0; place < table.length; place++) {
    parent[place] = table.parent(place) ?? -1;
    row[place] = table.row(place).row;
  }
  const slot = sharedNumbers(indices.length);
  slot.set(indices);
  return { slot, parent, row, texts: await textsOf(table, making, options) };
}

function checkParents(table: TraceTable): void {
  for (let place = 0; place < table.length; place++) if (table.parent(place) !== null) return;
  throw new PerwattError('INPUT_INVALID', `trace ${table.meta.path} names no conversations`, {
    hint: 'Leave `--late-parent` out: its calls have nothing to do with one another.',
  });
}

async function textsOf(
  table: TraceTable,
  { calls, indices, said, counter }: Making,
  options: TraceCalls,
): Promise<TurnArrays['texts']> {
  const { textFile, seed, template_tokens = 0 } = options;
  if (textFile === undefined || (!said && counter === undefined)) return null;
  const file = writeTexts(textFile, table.length);
  const place = { fd: -1, tokens: null };
  if (said || counter === undefined) {
    for (let i = 0; i < table.length; i++) file.add(turnOf(table, i));
    return { ...place, offsets: file.close(), whole: false };
  }
  const maker = await promptMaker(counter, { seed, overhead_tokens: template_tokens });
  const tokens = sharedNumbers(table.length);
  const call = new Map(Array.from(indices, (index, i) => [index, i] as const));
  for (let at = 0; at < table.length; at++) {
    const own = call.get(at);
    if (own === undefined) file.add({ messages: '', answer: '' });
    else {
      const wanted = { ...table.row(at), input_tokens: calls.input_tokens[own] ?? 0 };
      const { text, achieved_tokens } = await maker.prompt(wanted);
      tokens[at] = achieved_tokens;
      file.add(turnOfPrompt(text));
    }
  }
  return { fd: -1, tokens, offsets: file.close(), whole: true };
}

interface Due {
  /** Of the rows in the table. */
  readonly indices: Uint32Array;
  readonly due_ns: Float64Array;
}

function dueTimes(table: TraceTable, { arrivals, seed }: TraceCalls): Due {
  const all = (length: number) => Uint32Array.from({ length }, (_, i) => i);
  if (arrivals === null) return { indices: all(table.length), due_ns: new Float64Array() };
  if (arrivals.kind !== 'trace') {
    const { due_ns } = drawSchedule(arrivals, { count: table.length, seed });
    return { indices: all(due_ns.length), due_ns };
  }
  const { row, due_ns } = traceSchedule(traceTimes(table), arrivals);
  return { indices: row, due_ns };
}

/** Times of a trace's calls, ns from its first. Throws `INPUT_INVALID` for a trace without times. */
export function traceTimes(table: TraceTable): Float64Array {
  return Float64Array.from({ length: table.length }, (_, i) => {
    const at = table.at_ns(i);
    if (at !== null) return Number(at);
    throw new PerwattError('INPUT_INVALID', `trace ${table.meta.path} holds no times`, {
      hint: 'Give `--rate`, or `--shape closed` with `--concurrency`.',
    });
  });
}

function lengthOf(tokens: number | null, otherwise: number | null, which: 'input' | 'output'): number {
  const length = tokens ?? otherwise;
  if (length !== null) return length;
  throw new PerwattError('INPUT_INVALID', `the trace does not say the ${which} length of every call`, {
    hint: `Give \`--${which}-tokens\`, or \`--tokenizer\` to have its texts counted.`,
  });
}

function blocksOf(table: TraceTable, indices: Uint32Array): LoadRowArrays['blocks'] {
  const { block_tokens } = table.meta;
  if (block_tokens === null) return null;
  const offsets = sharedNumbers(indices.length + 1);
  for (const [i, index] of indices.entries()) {
    offsets[i + 1] = (offsets[i] ?? 0) + table.hash_ids(index).length;
  }
  const ids = new Float64Array(new SharedArrayBuffer(8 * (offsets[indices.length] ?? 0)));
  for (const [i, index] of indices.entries()) ids.set(table.hash_ids(index), offsets[i]);
  return { offsets, ids, block_tokens };
}
