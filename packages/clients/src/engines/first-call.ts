import type { ProfileName } from '@perwatt/core';
import { asObject, asText, excerpt, parseJson } from '../http/json.js';
import { type Api, addressOf, callPath, requestBody } from '../http/openai-request.js';
import { httpPage } from './http-page.js';
import { profiles } from './profiles.js';

export interface FirstCall {
  readonly api: Api;
  readonly profile: ProfileName;
  readonly model: string;
  readonly timeout_ms: number;
  readonly signal: AbortSignal;
}

/** Sends one short call, which makes an engine load what it has put off. Why it was refused; null when it was answered. */
export async function warmUp(origin: string, call: FirstCall): Promise<string | null> {
  const { api, profile, model, timeout_ms, signal } = call;
  const input =
    api === 'chat'
      ? ({ kind: 'chat', messages: [{ role: 'user', content: 'Hi' }] } as const)
      : ({ kind: 'completion', prompt: 'Hi' } as const);
  const request = { model, input, sampling: { temperature: 0, top_p: 1, max_tokens: 1 }, stream: false };
  const { status, text } = await httpPage(`${origin}${callPath(addressOf(origin), api)}`, {
    timeout_ms,
    signal,
    body: requestBody(request, api, { profile: profiles[profile] }),
  });
  if (status === null) return text;
  if (status >= 200 && status < 300 && asObject(parseJson(text)) !== null) return null;
  return `status ${status}: ${excerpt(text)}`;
}

/** The version a server tells by its profile's page; null where it has none. */
export async function engineVersion(origin: string, profile: ProfileName): Promise<string | null> {
  const { version } = profiles[profile];
  if (version === null) return null;
  const { status, text } = await httpPage(`${origin}${version.path}`, { timeout_ms: 5000 });
  return status === 200 ? asText(asObject(parseJson(text))?.[version.key]) || null : null;
}
