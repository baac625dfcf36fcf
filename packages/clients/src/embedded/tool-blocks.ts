import type { ToolCall } from '@perwatt/core';

/** What begins a tool call in a model's text. */
export const TOOL_CALL = '<tool_call>';

/** A model's text with the tool calls taken out. */
export interface ReadToolBlocks {
  readonly content: string;
  readonly tool_calls: readonly ToolCall[];
}

/**
 * The tool calls in a model's text, as `<tool_call>{"name": …, "arguments": {…}}</tool_call>` blocks; the last block may lack its
 * end. Where one block is no such JSON the text stays as it is, for the caller to repair.
 */
export function readToolBlocks(text: string): ReadToolBlocks {
  const blocks = [...text.matchAll(/<tool_call>\s*([\s\S]*?)\s*(?:<\/tool_call>|$)/g)];
  const tool_calls = blocks.map((block, index) => toolCall(block[1] ?? '', index));
  const whole = tool_calls.filter((call) => call !== null);
  if (whole.length === 0 || whole.length < blocks.length) return { content: text, tool_calls: [] };
  return { content: text.slice(0, blocks[0]?.index).trimEnd(), tool_calls: whole };
}

function toolCall(json: string, index: number): ToolCall | null {
  try {
    const { name, arguments: args } = JSON.parse(json) as {
      readonly name?: unknown;
      readonly arguments?: unknown;
    };
    if (typeof name !== 'string' || typeof args !== 'object' || args === null) return null;
    return { index, id: `call_${index}`, name, arguments: JSON.stringify(args) };
  } catch {
    return null;
  }
}
