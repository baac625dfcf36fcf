/** A request that isn't served, as the API tells it. */
export class Refusal extends Error {
  readonly status: number;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;

  constructor(
    status: number,
    message: string,
    details: { readonly type?: string; readonly param?: string; readonly code?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.type = details.type ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
    this.param = details.param ?? null;
    this.code = details.code ?? null;
  }
}

/** The error object that OpenAI's API answers with. */
export const errorBody = ({ message, type, param, code }: Refusal) => ({
  error: { message, type, param, code },
});
