import { expect, test } from 'vitest';
import { failureOf, httpFailure, type Phase } from './failure.js';

const error = (code: string) => Object.assign(new Error('why'), { code });

// biome-ignore format: a table is read in columns
test.each<[code: string, phase: Phase, status: string, kind: string, why: string]>([
  ['ECONNREFUSED',            'queued', 'connect_error',  'ECONNREFUSED',      'nothing listens'],
  ['ENOTFOUND',               'queued', 'connect_error',  'ENOTFOUND',         'no such name'],
  ['UND_ERR_CONNECT_TIMEOUT', 'queued', 'connect_error',  'connect_timeout',   'nothing answers'],
  ['UND_ERR_SOCKET',          'sent',   'connect_error',  'connection_closed', 'closed without a response'],
  ['ECONNRESET',              'sent',   'connect_error',  'ECONNRESET',        'reset without a response'],
  ['UND_ERR_SOCKET',          'body',   'truncated',      'connection_closed', 'closed within the body'],
  ['ECONNRESET',              'body',   'truncated',      'ECONNRESET',        'reset within the body'],
  ['EPIPE',                   'body',   'truncated',      'EPIPE',             'any other error of the socket'],
  ['UND_ERR_HEADERS_OVERFLOW', 'sent',  'protocol_error', 'headers_too_large', 'endless headers'],
  ['UND_ERR_DESTROYED',       'queued', 'cancelled',      'client_closed',     'the client was closed before'],
])('%s while %s is %s (%s): %s', (code, phase, status, kind) => {
  expect(failureOf(error(code), phase)).toMatchObject({ status, kind });
});

test.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'])(
  'a certificate that nobody known has signed is told with what to do: %s',
  (code) => {
    const { status, kind, message } = failureOf(error(code), 'queued');
    expect({ status, kind }).toEqual({ status: 'connect_error', kind: code });
    expect(message).toMatch(/not trusted: why; NODE_EXTRA_CA_CERTS/);
  },
);

test('an error without a code', () => {
  expect(failureOf(new Error('why'), 'body')).toMatchObject({ status: 'truncated', kind: 'unknown' });
});

test('an address with several failed attempts says them all', () => {
  const bundle = Object.assign(
    new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')], ''),
    {
      code: 'ECONNREFUSED',
    },
  );
  expect(failureOf(bundle, 'queued').message).toBe('refused ::1; refused 127.0.0.1');
});

// biome-ignore format: a table is read in columns
test.each<[body: string, message: string, why: string]>([
  ['{"error":{"message":"no such model"}}',         'no such model',                'an error object'],
  ['{"error":"no such model"}',                     'no such model',                'a bare text'],
  ['{"object":"error","message":"too long"}',       'too long',                     'an object that is an error'],
  ['{"detail":"Not Found"}',                        'Not Found',                    'a detail'],
  ['{"detail":[{"msg":"a"},{"msg":"b"}]}',          'a; b',                         'details of a validation'],
  ['{"error":{"code":5}}',                          '{"code":5}',                   'an error without words'],
  ['<html>\n  <b>Bad   Gateway</b>',                '<html> <b>Bad Gateway</b>',    'a page, on one line'],
  ['',                                              'status 503 without a body',    'nothing'],
])('%j says %j: %s', (body, message) => {
  expect(httpFailure(503, body, null)).toEqual({ status: 'http_error', kind: 'http_503', message });
});
