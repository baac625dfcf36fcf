import type { EngineKind, ProfileName } from '@perwatt/core';

/** How a server of one kind differs from others in what it takes and gives. */
export interface Profile {
  /** False where a streamed request is refused; then every call is asked for whole, and has no token times. */
  readonly streams: boolean;
  /** Where a streamed answer's usage is asked for: its last event, every event, or nowhere. */
  readonly usage: 'last' | 'running' | 'none';
  /** Name of the limit of output tokens. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** Fields of the sampling that it refuses or must not be sent. */
  readonly omit: readonly ('seed' | 'top_p' | 'stop' | 'logprobs')[];
  /** Fields that make an answer as long as its limit, whatever the model would do; null where there are none. */
  readonly exact_length: 'min_tokens' | 'ignore_eos' | 'both' | null;
  /** Names under which reasoning arrives; a reader takes all of them from anybody. */
  readonly reasoning: readonly ('reasoning_content' | 'reasoning')[];
  /** What to ask for its version: a page and the key in its JSON; null where it does not tell. */
  readonly version: { readonly path: string; readonly key: string } | null;
}

const openai: Profile = {
  streams: true,
  usage: 'last',
  limit: 'max_tokens',
  omit: [],
  exact_length: null,
  reasoning: ['reasoning_content', 'reasoning'],
  version: null,
};

/** What is known of servers, by name. */
export const profiles: Readonly<Record<ProfileName, Profile>> = {
  openai,
  vllm: {
    ...openai,
    usage: 'running',
    exact_length: 'both',
    version: { path: '/version', key: 'version' },
  },
  sglang: {
    ...openai,
    exact_length: 'both',
    reasoning: ['reasoning_content'],
    version: { path: '/get_server_info', key: 'version' },
  },
  'llama-server': {
    ...openai,
    exact_length: 'ignore_eos',
    reasoning: ['reasoning_content'],
    version: { path: '/props', key: 'build_info' },
  },
  ollama: { ...openai, reasoning: ['reasoning'], version: { path: '/api/version', key: 'version' } },
  tokasaurus: {
    ...openai,
    streams: false,
    usage: 'none',
    omit: ['seed', 'logprobs'],
    exact_length: 'ignore_eos',
    reasoning: [],
  },
  lmstudio: { ...openai, reasoning: ['reasoning_content', 'reasoning'] },
  perwatt: openai,
};

/** The profile of what an engine of a kind serves; any program is taken to be like most servers. */
export const profileOfKind = (kind: EngineKind): ProfileName => (kind === 'command' ? 'openai' : kind);
