import { createHash } from 'node:crypto';
import { type CallInput, chatWithToolsAsText, type Message } from '@perwatt/core';
import type { ChatItem, ChatWrapper, EngineModule, Model, Token } from './engine-api.js';

/** How messages become a prompt. */
export interface ChatFormat {
  readonly sha256: string;
  /** Texts that end an answer in this format, beside the model's own end tokens. */
  readonly stops: readonly string[];
  tokens(messages: readonly Message[]): Token[];
}

/**
 * The format for weights without a chat template, which are base models: a dialogue of questions and answers that the
 * model continues. System messages come first, each followed by an empty line.
 */
const PLAIN_TEMPLATE =
  '{system}\\n\\nQuestion: {user}\\nAnswer: {assistant}\\n\\n…Question: {user}\\nAnswer:';
const PLAIN_STOPS = ['\nQuestion:'];

/** The prompt of `messages` in the format of `PLAIN_TEMPLATE`. */
export function plainPrompt(messages: readonly Message[]): string {
  const parts = messages.map(({ role, content }) => {
    if (role === 'system') return `${content}\n\n`;
    if (role === 'assistant') return `Answer: ${content}\n\n`;
    return `Question: ${content}\n`;
  });
  return `${parts.join('')}Answer:`;
}

/** The chat format of a model: the template its weights carry, else the plain one. */
export function chatFormat(engine: Pick<EngineModule, 'JinjaTemplateChatWrapper'>, model: Model): ChatFormat {
  const template = model.fileInfo.metadata.tokenizer?.chat_template;
  if (template === undefined || template === '')
    return {
      sha256: sha256(PLAIN_TEMPLATE),
      stops: PLAIN_STOPS,
      tokens: (messages) => model.tokenize(plainPrompt(messages), false),
    };
  const wrapper = new engine.JinjaTemplateChatWrapper({ template, tokenizer: model.tokenizer });
  return {
    sha256: sha256(template),
    stops: [],
    tokens: (messages) => templated(wrapper, messages, model),
  };
}

/** Text of messages stays text: a special token spelled out in one isn't read as such. */
function templated(wrapper: ChatWrapper, messages: readonly Message[], model: Model): Token[] {
  const history: ChatItem[] = messages.map(({ role, content }) =>
    role === 'assistant'
      ? { type: 'model', response: [content] }
      : { type: role === 'system' ? 'system' : 'user', text: content },
  );
  history.push({ type: 'model', response: [''] });
  return wrapper.generateContextState({ chatHistory: history }).contextText.tokenize(model.tokenizer);
}

/**
 * The tokens of a call's input, with the start token where the model wants one. Tools stand in a chat as text, whatever the model's
 * template. In a bare completion special tokens may be spelled out, as HTTP servers allow.
 */
export function promptTokens(input: CallInput, model: Model, format: ChatFormat): Token[] {
  const tokens =
    input.kind === 'chat'
      ? format.tokens(chatWithToolsAsText(input.messages, input.tools ?? []))
      : model.tokenize(input.prompt, true);
  const { bos, shouldPrependBosToken } = model.tokens;
  return shouldPrependBosToken && bos !== null && tokens[0] !== bos ? [bos, ...tokens] : tokens;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
