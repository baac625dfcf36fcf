/**
 * What is used of node-llama-cpp. Written down here so that Perwatt builds where that optional dependency is absent;
 * a test holds it against the package's own types.
 */
export interface EngineModule {
  getLlama(options: {
    readonly gpu: 'auto' | false;
    readonly build: 'never';
    readonly logLevel: 'error';
    readonly maxThreads: number;
    readonly logger: (level: string, message: string) => void;
  }): Promise<Llama>;
  getModuleVersion(): Promise<string>;
  readonly JinjaTemplateChatWrapper: new (options: {
    readonly template: string;
    readonly tokenizer: Tokenizer;
  }) => ChatWrapper;
  readonly GgufFileType: Readonly<Record<number, string>>;
}

export interface Llama {
  readonly gpu: string | false;
  readonly llamaCppRelease: { readonly release: string };
  /** GPUs that it computes on; empty where a driver is there but no device. */
  getGpuDeviceNames(): Promise<string[]>;
  loadModel(options: { readonly modelPath: string }): Promise<Model>;
}

export type Token = number;

/** Opaque here: a model's `tokenizer` is handed back to the library only. */
type Tokenizer = object;

export interface Model {
  readonly tokenizer: Tokenizer;
  readonly trainContextSize: number;
  readonly tokens: { readonly bos: Token | null; readonly shouldPrependBosToken: boolean };
  readonly fileInfo: {
    readonly metadata: {
      readonly general: { readonly file_type?: number };
      readonly tokenizer?: { readonly chat_template?: string };
    };
  };
  tokenize(text: string, specialTokens: boolean): Token[];
  detokenize(tokens: readonly Token[], specialTokens: boolean): string;
  isEogToken(token: Token): boolean;
  createContext(options: {
    readonly contextSize: number;
    readonly sequences: number;
    readonly threads: number;
  }): Promise<Context>;
}

interface Context {
  getSequence(): Sequence;
}

export interface Sequence {
  readonly contextSize: number;
  clearHistory(): Promise<void>;
  evaluate(tokens: Token[], options: EvaluateOptions): AsyncIterable<Token>;
  /** Tokens with the probability that each was drawn with, after temperature and cuts. */
  evaluateWithMetadata(
    tokens: Token[],
    metadata: { readonly confidence: true },
    options: EvaluateOptions,
  ): AsyncIterable<{ readonly token: Token; readonly confidence: number }>;
}

export interface EvaluateOptions {
  /** 0 is greedy. */
  readonly temperature: number;
  /** Null switches the cut off; left out, the library would take its own default. */
  readonly topK: number | null;
  readonly topP: number | null;
  readonly seed: number;
  readonly yieldEogToken: true;
}

export type ChatItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: string[] };

export interface ChatWrapper {
  generateContextState(options: { readonly chatHistory: ChatItem[] }): {
    readonly contextText: { tokenize(tokenizer: Tokenizer): Token[] };
  };
}
