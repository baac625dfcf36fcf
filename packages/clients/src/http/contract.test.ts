import { clientContract, mockOpenAiServer, tickingClock } from '@perwatt/test-kit';
import { loadClient } from './load-client.fixture.js';
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

for (const api of ['chat', 'completion'] as const)
  clientContract(
    `load engine, ${api}`,
    async () => {
      const server = await mockOpenAiServer();
      const client = loadClient({ url: server.url, api, clock: tickingClock() });
      return { client, model: 'scripted', dispose: server.close };
    },
    { failing: { model: 'absent' }, followed: false },
  );
