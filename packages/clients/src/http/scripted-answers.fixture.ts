import { chatChunk, type MockAnswer, mockedClient, sseEvent, tickingClock } from '@perwatt/test-kit';
import { type OpenAiClientOptions, openAiClient } from './openai-client.js';

/** A client of a mock server that answers with `answer`. */
export const start = (answer?: MockAnswer, options: Partial<OpenAiClientOptions> = {}) =>
  mockedClient((url) => openAiClient({ url, api: 'chat', clock: tickingClock(), ...options }), answer);

/** Events of a stream: a piece of text, the end of the answer, the server's count. */
export const token = (text: string) => chatChunk({ content: text });
export const finish = chatChunk({}, 'stop');
export const usage = (n: number) =>
  sseEvent({ choices: [], usage: { prompt_tokens: 5, completion_tokens: n } });

export const noTimes = { first_any_ns: null, first_content_ns: null, last_content_ns: null };

/** A whole body, sent at once. */
export const body =
  (text: string, type = 'text/event-stream', status = 200): MockAnswer =>
  async (exchange) => {
    exchange.head(status, { 'content-type': type });
    if (text !== '') await exchange.write(text);
    exchange.end();
  };
