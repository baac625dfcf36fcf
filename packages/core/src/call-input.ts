/** One turn of a chat. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  /** Tools that an assistant's turn asked for; each is answered by a turn of role `tool`. */
  readonly tool_calls?: readonly MessageToolCall[];
  /** In a turn of role `tool`: the call that it answers. */
  readonly tool_call_id?: string;
}

/** A tool call as part of a chat's history; `arguments` is JSON text. */
export interface MessageToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A tool that the model may ask for. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** How the next token is chosen, and when to stop. */
export interface Sampling {
  /** 0 is greedy decoding. */
  readonly temperature: number;
  /** Nucleus share, 0…1; 1 keeps every token. */
  readonly top_p: number;
  /** Most output tokens. */
  readonly max_tokens: number;
  readonly seed?: number;
  /** How long a reasoning model may think, as its server names it; the server's default where left out. */
  readonly reasoning_effort?: string;
  /** Texts that end the answer; they are no part of it. */
  readonly stop?: readonly string[];
  /** Asks for the probability of each token that was drawn. */
  readonly logprobs?: true;
}

/** What a model is asked: a chat for its template, or bare text to go on from. */
export type CallInput =
  | { readonly kind: 'chat'; readonly messages: readonly Message[]; readonly tools?: readonly ToolSpec[] }
  | { readonly kind: 'completion'; readonly prompt: string };
