import { asCount, asObject, asText, parseJson } from '../http/json.js';
import { mockTokens } from './mock-plan.js';

/** What the mock has done so far. */
export interface MockCounts {
  /** Requests to the two APIs, failed ones included. */
  requests: number;
  /** Being written. */
  running: number;
  /** In line for a slot. */
  waiting: number;
  finished_stop: number;
  finished_length: number;
  failed: number;
  prompt_tokens: number;
  generated_tokens: number;
  ttft_sum_s: number;
}

export const noCounts = (): MockCounts => ({
  requests: 0,
  running: 0,
  waiting: 0,
  finished_stop: 0,
  finished_length: 0,
  failed: 0,
  prompt_tokens: 0,
  generated_tokens: 0,
  ttft_sum_s: 0,
});

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  404: 'Not Found',
  411: 'Length Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
};

/** A whole response with a body of known length. */
export function page(
  status: number,
  body: string,
  more: { readonly type?: string; readonly headers?: string } = {},
): string {
  const { type = 'application/json', headers = '' } = more;
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status} ${reasons[status] ?? 'Unknown'}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n${headers}\r\n${body}`;
}

/** A response that says what is wrong, as OpenAI's servers do. */
export const errorPage = (status: number, message: string, headers = ''): string =>
  page(status, JSON.stringify({ error: { message, type: 'mock', code: status } }), { headers });

/** `/v1/models`. */
export const modelsPage = (model: string): string =>
  page(
    200,
    JSON.stringify({
      object: 'list',
      data: [
        {
          id: model,
          object: 'model',
          created: 0,
          owned_by: 'perwatt',
          max_model_len: 1 << 20,
          perwatt: { engine: 'perwatt-mock' },
        },
      ],
    }),
  );

/** `/tokenize`: a token for each 4 bytes begun of the `prompt`, or of the contents of `messages`. */
export function tokenizePage(body: Buffer): string {
  const asked = asObject(parseJson(body.toString('utf8')));
  if (asked === null) return errorPage(400, 'the body is not a JSON object');
  const messages = Array.isArray(asked['messages']) ? asked['messages'] : [];
  const prompt =
    asText(asked['prompt']) || messages.map((message) => asText(asObject(message)?.['content'])).join('');
  const bytes = Buffer.from(prompt);
  const tokens = Array.from({ length: mockTokens(prompt) }, (_, i) =>
    bytes.readUIntBE(4 * i, Math.min(4, bytes.length - 4 * i)),
  );
  return page(200, JSON.stringify({ count: tokens.length, max_model_len: 1 << 20, tokens }));
}

/** `/detokenize`: the text of tokens that `/tokenize` gave. */
export function detokenizePage(body: Buffer): string {
  const tokens = asObject(parseJson(body.toString('utf8')))?.['tokens'];
  if (!Array.isArray(tokens)) return errorPage(400, 'tokens is not a list');
  const bytes = tokens.flatMap((token) => bytesOf(asCount(token) ?? 0));
  return page(200, JSON.stringify({ prompt: Buffer.from(bytes).toString('utf8') }));
}

/** The bytes of one token, without leading zeros. */
function bytesOf(token: number): number[] {
  const bytes = [token >>> 24, (token >>> 16) & 255, (token >>> 8) & 255, token & 255];
  return bytes.slice(bytes.findIndex((byte) => byte !== 0));
}

/** `/metrics`, by the names of vLLM. */
export function metricsPage(counts: MockCounts, model: string): string {
  const label = (more = '') => `{engine="0",model_name=${JSON.stringify(model)}${more}}`;
  const lines = [
    '# TYPE vllm:num_requests_running gauge',
    `vllm:num_requests_running${label()} ${counts.running}`,
    '# TYPE vllm:num_requests_waiting gauge',
    `vllm:num_requests_waiting${label()} ${counts.waiting}`,
    '# TYPE vllm:prompt_tokens_total counter',
    `vllm:prompt_tokens_total${label()} ${counts.prompt_tokens}`,
    '# TYPE vllm:generation_tokens_total counter',
    `vllm:generation_tokens_total${label()} ${counts.generated_tokens}`,
    '# TYPE vllm:request_success_total counter',
    `vllm:request_success_total${label(',finished_reason="stop"')} ${counts.finished_stop}`,
    `vllm:request_success_total${label(',finished_reason="length"')} ${counts.finished_length}`,
    '# TYPE vllm:time_to_first_token_seconds summary',
    `vllm:time_to_first_token_seconds_sum${label()} ${counts.ttft_sum_s}`,
    `vllm:time_to_first_token_seconds_count${label()} ${counts.finished_stop + counts.finished_length}`,
  ];
  return page(200, `${lines.join('\n')}\n`, { type: 'text/plain; version=0.0.4' });
}
