import type { Rng } from '@perwatt/core';
import { integer } from '../../random.js';
import { drawProgram, type ProgramShape } from './draw-program.js';
import { parseProgram } from './parse.js';
import { runProgram } from './run.js';
import { type ProgramValue, sameValue, writeValue } from './value.js';

/** A program with arguments and what it returned for each, all as text. */
export interface DrawnTask {
  readonly program: string;
  readonly pairs: readonly (readonly [input: string, output: string])[];
}

const PAIRS = 10;
const DIFFERENT = 4;
const MAX_OUTPUT = 120;

/**
 * A program that does something: it uses its parameters, runs on ten different inputs, returns at least four different values, never long ones, and
 * isn't the identity. Null when what was drawn isn't.
 */
export function drawTask(rng: Rng, shape: ProgramShape): DrawnTask | null {
  const text = drawProgram(rng, shape);
  const program = parseProgram(text);
  if (program.parameters.some((name) => [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length < 2))
    return null;
  const pairs = new Map<string, ProgramValue>();
  for (let tries = 0; pairs.size < PAIRS && tries < 3 * PAIRS; tries++) {
    const args = shape.parameters.map((kind) => argument(rng, kind));
    const result = runProgram(program, args);
    if (result.status === 'failed') return null;
    pairs.set(inputText(args), result.value);
  }
  const outputs = [...pairs.values()];
  const different = outputs.filter((a, i) => outputs.findIndex((b) => sameValue(a, b)) === i);
  const written = [...pairs].map(([input, value]) => [input, writeValue(value)] as const);
  const isDull = written.every(([input, output]) => input === output);
  const isLong = written.some(([, output]) => output.length > MAX_OUTPUT);
  return pairs.size < PAIRS || different.length < DIFFERENT || isDull || isLong
    ? null
    : { program: text, pairs: written };
}

const argument = (rng: Rng, kind: 'number' | 'list'): ProgramValue =>
  kind === 'number'
    ? integer(rng, 0, 30)
    : Array.from({ length: integer(rng, 3, 6) }, () => integer(rng, 0, 15));

/** Arguments as they stand between the brackets of a call. */
export const inputText = (args: readonly ProgramValue[]): string => args.map(writeValue).join(', ');
