import { request } from 'undici';

/** A page, or why there is none. */
export interface Page {
  /** Null where nothing answered. */
  readonly status: number | null;
  readonly text: string;
  /** Bytes that come with the answer's type, for example `text/plain`. */
  readonly type: string;
}

export interface PageOptions {
  readonly timeout_ms: number;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON by POST; without it the page is got. */
  readonly body?: string;
}

const MOST_BYTES = 1 << 20;

/** Asks for a page, without following redirects. Never throws: what went wrong is its text. */
export async function httpPage(url: string, options: PageOptions): Promise<Page> {
  const { timeout_ms, signal, headers = {}, body } = options;
  const late = AbortSignal.timeout(timeout_ms);
  try {
    const answer = await request(url, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body ?? null,
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) break;
      chunks.push(chunk);
    }
    const type = String(answer.headers['content-type'] ?? '');
    return { status: answer.statusCode, text: Buffer.concat(chunks).toString('utf8'), type };
  } catch (error) {
    const why = late.aborted ? `no answer within ${timeout_ms / 1000} s` : reasonOf(error);
    return { status: null, text: why, type: '' };
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error);
