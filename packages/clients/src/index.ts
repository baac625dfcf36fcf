export { type OpenAiClientOptions, openAiClient } from './http/openai-client.js';
export type { Api } from './http/openai-request.js';
