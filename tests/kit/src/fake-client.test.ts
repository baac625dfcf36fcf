import type { ClientRequest } from '@perwatt/core';
import { expect, test } from 'vitest';
import { clientContract } from './client-contract.js';
import { manualClock, tickingClock } from './clocks.js';
import { fakeClient } from './fake-client.js';
import { scriptedAnswer } from './scripted-model.js';

const failing: Partial<ClientRequest> = { model: 'absent' };

clientContract(
  'fake',
  async () => ({
    client: fakeClient({
      clock: tickingClock(),
      answer: (request) =>
        request.model === 'absent'
          ? { status: 'http_error', error_message: 'no such model' }
          : scriptedAnswer(request),
    }),
    model: 'scripted',
  }),
  { failing },
);

const request: ClientRequest = {
  model: 'scripted',
  input: { kind: 'completion', prompt: 'go' },
  sampling: { temperature: 0, top_p: 1, max_tokens: 3 },
};

test('time passes as the script says', async () => {
  const clock = manualClock();
  const client = fakeClient({
    clock,
    first_ns: 500,
    gap_ns: 40,
    wait: async (ns) => clock.advance(ns),
  });
  const { stamps, icl_ns } = await client.call(request);
  expect(stamps).toMatchObject({
    dispatch_ns: 0n,
    first_content_ns: 500n,
    last_content_ns: 580n,
    end_ns: 580n,
  });
  expect(icl_ns).toEqual([40, 40]);
});

test('a scripted failure keeps the text that came before it', async () => {
  const client = fakeClient({
    clock: tickingClock(),
    answer: () => ({ status: 'stream_error', error_message: 'boom', tokens: ['Hel'] }),
  });
  expect(await client.call(request)).toMatchObject({
    status: 'stream_error',
    content: 'Hel',
    error_message: 'boom',
    n_tokens: null,
  });
});

test('remembers what it was asked, and how many calls were in flight at once', async () => {
  const client = fakeClient({ clock: tickingClock() });
  await Promise.all([client.call(request), client.call(request)]);
  await client.call(request);
  expect(client.requests).toEqual([request, request, request]);
  expect(client.peak).toBe(2);
});
