import type { CallOptions, CallRecord, Client, ClientRequest } from '@perwatt/core';
import { onTestFinished } from 'vitest';
import { type MockAnswer, type MockServer, mockOpenAiServer } from './mock-openai-server.js';

/** A client, the mock server it talks to, and a short way to call. */
export interface MockedClient {
  readonly server: MockServer;
  readonly client: Client;
  /** Makes one greedy chat call, changed by what is given. */
  call(own?: Partial<ClientRequest>, options?: CallOptions): Promise<CallRecord>;
}

/** A greedy chat of five tokens at most. */
export const greedyRequest: ClientRequest = {
  model: 'scripted',
  input: { kind: 'chat', messages: [{ role: 'user', content: 'Say the word apple.' }] },
  sampling: { temperature: 0, top_p: 1, max_tokens: 5 },
};

/** Starts a mock server and a client of it; both end with the test. */
export async function mockedClient(
  make: (url: string) => Client,
  answer?: MockAnswer,
): Promise<MockedClient> {
  const server = await mockOpenAiServer(answer);
  const client = make(server.url);
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  return {
    server,
    client,
    call: (own = {}, options = {}) => client.call({ ...greedyRequest, ...own }, options),
  };
}

/** An address on which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await mockOpenAiServer();
  await server.close();
  return server.url;
}
