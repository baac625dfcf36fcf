import type { Message, ToolSpec } from './call-input.js';

/** What a system message says of tools, for models that are told of them in text (Hermes form). */
export const toolsAsText = (tools: readonly ToolSpec[]): string =>
  `You can call tools. Each is described by one line of JSON:
${tools.map((tool) => JSON.stringify({ type: 'function', function: tool })).join('\n')}

To call one, write a block and then stop:
<tool_call>{"name": "…", "arguments": {…}}</tool_call>
The result comes back as a <tool_response> block.`;

/** One tool's result as it is put before a model in text. */
export const toolResponseText = (content: string): string => `<tool_response>\n${content}\n</tool_response>`;

/**
 * A chat in which tools, their calls and their results stand as text: for engines whose templates know of none. Results in a row
 * become one turn of the user.
 */
export function chatWithToolsAsText(messages: readonly Message[], tools: readonly ToolSpec[]): Message[] {
  const out: Message[] = [];
  const [first, ...rest] = messages;
  if (tools.length > 0) {
    const lead = first?.role === 'system' ? [first.content] : [];
    out.push({ role: 'system', content: [...lead, toolsAsText(tools)].join('\n\n') });
  }
  const others = tools.length > 0 && first?.role === 'system' ? rest : messages;
  for (const [i, message] of others.entries()) {
    const text = asText(message);
    const last = out.at(-1);
    const joins = message.role === 'tool' && others[i - 1]?.role === 'tool' && last !== undefined;
    if (joins) out[out.length - 1] = { role: 'user', content: `${last.content}\n${text.content}` };
    else out.push(text);
  }
  return out;
}

function asText({ role, content, tool_calls = [] }: Message): Message {
  if (role === 'tool') return { role: 'user', content: toolResponseText(content) };
  const calls = tool_calls.map(
    ({ name, arguments: args }) =>
      `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": ${args}}</tool_call>`,
  );
  return { role, content: [content, ...calls].filter((part) => part !== '').join('\n') };
}
