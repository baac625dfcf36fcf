import type { CallResult, ToolCall } from '@perwatt/core';
import { jsonrepair } from 'jsonrepair';

/** A tool call with its arguments read. */
export interface ReadToolCall {
  readonly id: string;
  readonly name: string;
  /** Null when the arguments are no JSON object even after a repair. */
  readonly args: Readonly<Record<string, unknown>> | null;
  /** The JSON had to be mended. */
  readonly repaired: boolean;
}

/**
 * Tool calls of an answer: those that came as `tool_calls`, else the `<tool_call>{…}</tool_call>` blocks of its text (Hermes form; a
 * last block may lack its end). Malformed JSON is repaired where it can be.
 */
export function toolCallsOf(result: Pick<CallResult, 'text' | 'tool_calls'>): ReadToolCall[] {
  if (result.tool_calls !== undefined && result.tool_calls.length > 0)
    return result.tool_calls.map((call, i) => nativeCall(call, i));
  const blocks = [...result.text.matchAll(/<tool_call>\s*([\s\S]*?)\s*(?:<\/tool_call>|$)/g)];
  return blocks.map((block, i) => hermesCall(block[1] ?? '', i));
}

function nativeCall({ id, index, name, arguments: text }: ToolCall, i: number): ReadToolCall {
  const { value, repaired } = readJson(text === '' ? '{}' : text);
  return { id: id ?? `call-${index ?? i}`, name, args: asObject(value), repaired };
}

function hermesCall(text: string, i: number): ReadToolCall {
  const { value, repaired } = readJson(text);
  const call = asObject(value);
  const name = typeof call?.['name'] === 'string' ? call['name'] : '';
  const given = call?.['arguments'] ?? call?.['parameters'] ?? null;
  const inner = typeof given === 'string' ? readJson(given) : { value: given, repaired: false };
  return { id: `call-${i}`, name, args: asObject(inner.value), repaired: repaired || inner.repaired };
}

/** JSON, mended when it has to be; `value` is undefined when that fails. */
export function readJson(text: string): { readonly value: unknown; readonly repaired: boolean } {
  try {
    return { value: JSON.parse(text) as unknown, repaired: false };
  } catch {
    try {
      return { value: JSON.parse(jsonrepair(text)) as unknown, repaired: true };
    } catch {
      return { value: undefined, repaired: false };
    }
  }
}

/**
 * The JSON object in a model's answer: the whole text, the last fenced block, or from the first brace to the last. Null when none
 * of these is an object.
 */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  const fenced = [...text.matchAll(/```(?:json)?\s*([\s\S]*?)```/g)].at(-1)?.[1];
  const braces = /\{[\s\S]*\}/.exec(text)?.[0];
  for (const part of [fenced, braces]) {
    const found = part === undefined ? null : asObject(readJson(part).value);
    if (found !== null) return found;
  }
  return null;
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
