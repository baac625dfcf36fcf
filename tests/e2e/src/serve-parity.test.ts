import { embeddedClient, type ModelWeights, openAiClient, resolveModel, serveClient } from '@perwatt/clients';
import { type ClientRequest, type Clock, instant, messageOf } from '@perwatt/core';
import { describe, expect, onTestFinished, test } from 'vitest';

const clock: Clock = { now: () => instant(process.hrtime.bigint()) };
const prompts = [
  'What is 3 + 4? Reply with the number only.',
  'Name three colours.',
  'Wie heißt die Hauptstadt von Österreich?',
  'Write one sentence about the sea. 🌊',
];

async function weightsOf(id: string): Promise<ModelWeights | null> {
  try {
    return await resolveModel(id, { env: process.env });
  } catch (error) {
    process.stdout.write(`skipped serve parity of ${id}: ${messageOf(error)}\n`);
    return null;
  }
}

describe.each(['smollm2-135m', 'gemma3-270m'])('%s', async (id) => {
  const weights = await weightsOf(id);

  test.skipIf(weights === null)(
    'gives the same greedy texts through the server and the HTTP client as embedded',
    async () => {
      const engine = embeddedClient({
        modelPath: weights!.path,
        model: id,
        threads: 1,
        contextTokens: 512,
        clock,
      });
      const served = await serveClient({ client: engine, models: [id], clock });
      const remote = openAiClient({ url: served.url, api: 'chat', clock, model: id });
      onTestFinished(async () => {
        await remote.close();
        await served.close();
        await engine.close();
      });
      for (const content of prompts) {
        const request: ClientRequest = {
          model: id,
          input: { kind: 'chat', messages: [{ role: 'user', content }] },
          sampling: { temperature: 0, top_p: 1, max_tokens: 32 },
        };
        const [near, far] = [await engine.call(request), await remote.call(request)];
        expect(near).toMatchObject({ status: 'ok' });
        expect(near.content).not.toBe('');
        expect(far).toMatchObject({
          status: 'ok',
          content: near.content,
          finish_reason: near.finish_reason,
          usage: near.usage,
        });
      }
    },
    180_000,
  );
});
