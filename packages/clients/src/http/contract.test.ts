import { clientContract, mockOpenAiServer, tickingClock } from '@perwatt/test-kit';
import { openAiClient } from './openai-client.js';

for (const api of ['chat', 'completion'] as const)
  clientContract(
    `OpenAI-compatible server, ${api}`,
    async () => {
      const server = await mockOpenAiServer();
      const client = openAiClient({ url: server.url, api, clock: tickingClock() });
      return { client, model: 'scripted', dispose: server.close };
    },
    { failing: { model: 'absent' } },
  );
