import { type CallStatus, messageOf, systemCode } from '@perwatt/core';
import { errors } from 'undici';
import { asArray, asObject, asText, excerpt, type JsonObject, parseJson } from './json.js';

/** How a call failed: its status, a short name of the kind, and what happened in words. */
export interface Failure {
  readonly status: Exclude<CallStatus, 'ok'>;
  readonly kind: string;
  readonly message: string;
}

/** How far a call had come when its connection failed. */
export type Phase = 'queued' | 'sent' | 'body';

const kinds: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'connection_closed',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'connection_closed',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  UND_ERR_HEADERS_OVERFLOW: 'headers_too_large',
  UND_ERR_DESTROYED: 'client_closed',
  UND_ERR_CLOSED: 'client_closed',
};

/**
 * Reads an error of the connection. Before the response began it is `connect_error`, later `truncated`, of the kind
 * `connection_closed` or the system's code: whether a reset shows as such or as a plain close is a matter of timing, so the
 * two are not told apart by status. Bytes that are not HTTP are `protocol_error`; a closed client makes its calls `cancelled`.
 */
export function failureOf(error: unknown, phase: Phase): Failure {
  const kind = kindOf(error);
  const message = describe(error);
  if (kind === 'client_closed') return { status: 'cancelled', kind, message: 'the client was closed' };
  if (kind === 'not_http' || kind === 'headers_too_large') return { status: 'protocol_error', kind, message };
  if (phase !== 'body') return { status: 'connect_error', kind, message };
  return {
    status: 'truncated',
    kind,
    message: `the connection broke before the answer was complete: ${message}`,
  };
}

/** undici's parser errors have no code; a close within a chunk is one of them, told apart by its words only. */
function kindOf(error: unknown): string {
  if (error instanceof errors.HTTPParserError)
    return error.message.includes('Invalid EOF state') ? 'connection_closed' : 'not_http';
  const code = systemCode(error);
  return code === null ? 'unknown' : (kinds[code] ?? code);
}

/** Codes of certificates that nobody known has signed. */
const untrusted: ReadonlySet<string | null> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** An address may resolve to several; then the error is a bundle whose own message is empty. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((each) => messageOf(each)).join('; ');
  if (untrusted.has(systemCode(error)))
    return `the server's certificate is not trusted: ${messageOf(error)}; NODE_EXTRA_CA_CERTS may name a file with it`;
  return messageOf(error);
}

/** The failure that a response with a status other than 2xx is. */
export function httpFailure(status: number, body: string, location: string | null): Failure {
  const kind = `http_${status}`;
  if (location !== null) return { status: 'http_error', kind, message: `redirect to ${location}` };
  const json = asObject(parseJson(body));
  const said = json === null ? null : (errorText(json) ?? detailText(json));
  return {
    status: 'http_error',
    kind,
    message: said ?? (excerpt(body) || `status ${status} without a body`),
  };
}

/** What an error object in a payload says; null when the payload has none. */
export function errorText(payload: JsonObject): string | null {
  const error = payload['error'] ?? (payload['object'] === 'error' ? payload : null);
  if (error === null || error === undefined || error === false || error === '') return null;
  const object = asObject(error);
  if (object === null) return asText(error) || JSON.stringify(error);
  return asText(object['message']) || JSON.stringify(object);
}

function detailText(payload: JsonObject): string | null {
  const detail = payload['detail'] ?? payload['message'];
  if (typeof detail === 'string' && detail !== '') return detail;
  const lines = asArray(detail).map((each) => asText(asObject(each)?.['msg']));
  return lines.some((line) => line !== '') ? lines.join('; ') : null;
}
