import { openAiClient } from '@perwatt/clients';
import { type Client, type EndpointEntry, PerwattError } from '@perwatt/core';
import { clock } from '@perwatt/native-power';
import type { Io } from './io.js';

/** A maker of clients for a model at an endpoint. Throws `INPUT_INVALID` when the variable that should hold its key does not. */
export function endpointClient(endpoint: EndpointEntry, model: string, io: Pick<Io, 'env'>): () => Client {
  const apiKey = keyOf(endpoint, io);
  return () =>
    openAiClient({
      url: endpoint.url,
      api: endpoint.api,
      clock,
      model,
      headersTimeoutMs: endpoint.headers_timeout_s * 1000,
      idleTimeoutMs: endpoint.idle_timeout_s * 1000,
      ...(endpoint.profile === undefined ? {} : { profile: endpoint.profile }),
      ...(endpoint.exact_length === undefined ? {} : { exactLength: endpoint.exact_length }),
      ...(apiKey === null ? {} : { apiKey }),
    });
}

function keyOf({ api_key_env }: EndpointEntry, io: Pick<Io, 'env'>): string | null {
  if (api_key_env === undefined) return null;
  const key = io.env[api_key_env];
  if (key !== undefined && key !== '') return key;
  throw new PerwattError('INPUT_INVALID', `environment variable ${api_key_env} holds no key`, {
    hint: 'Set it to the API key of the endpoint, or drop `api_key_env` from the matrix.',
  });
}
