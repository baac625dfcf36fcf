import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type ClientRequest, type Clock, instant, type Sampling } from '@perwatt/core';
import { clientContract, ggufFixture, ggufShape } from '@perwatt/test-kit';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type EmbeddedClientOptions, embeddedClient } from './embedded-client.js';

const clock: Clock = { now: () => instant(process.hrtime.bigint()) };
const folder = mkdtempSync(join(tmpdir(), 'perwatt-embedded-'));
const modelPath = join(folder, 'fixture.gguf');
const plainPath = join(folder, 'plain.gguf');

beforeAll(() => {
  writeFileSync(modelPath, ggufFixture());
  writeFileSync(plainPath, ggufFixture({ chatTemplate: null }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const make = (options: Partial<EmbeddedClientOptions> = {}): Client => {
  const client = embeddedClient({ modelPath, model: 'fixture', threads: 1, clock, ...options });
  onTestFinished(() => client.close());
  return client;
};
const greedy: Sampling = { temperature: 0, top_p: 1, max_tokens: 24, seed: 1 };
const chat = (content: string, sampling: Partial<Sampling> = {}): ClientRequest => ({
  model: 'fixture',
  input: { kind: 'chat', messages: [{ role: 'user', content }] },
  sampling: { ...greedy, ...sampling },
});

clientContract(
  'embedded engine',
  async () => ({ client: embeddedClient({ modelPath, model: 'fixture', threads: 1, clock }), model: 'fixture' }),
  { failing: { input: { kind: 'chat', messages: [{ role: 'user', content: 'word '.repeat(600) }] } } },
);
