import * as z from 'zod';

/** Serving engines that Perwatt can start; `command` is any other program. */
export const engineKinds = [
  'vllm',
  'sglang',
  'llama-server',
  'ollama',
  'tokasaurus',
  'lmstudio',
  'command',
] as const;
/** One of `engineKinds`. */
export type EngineKind = (typeof engineKinds)[number];

/** Names of what is known of how servers differ; `openai` is what most of them do. */
export const profileNames = [
  'openai',
  'vllm',
  'sglang',
  'llama-server',
  'ollama',
  'tokasaurus',
  'lmstudio',
  'perwatt',
] as const;
/** One of `profileNames`. */
export type ProfileName = (typeof profileNames)[number];

const text = z.string().min(1).max(4096);
const word = z.union([text, z.number()]).transform(String);

/** How calls reach a server and how long they may take; the same for one that runs and for one that is started. */
export const callSettings = {
  api: z.enum(['chat', 'completion']).default('chat'),
  profile: z
    .enum(profileNames)
    .optional()
    .describe('How the server differs from others; default: by the kind of the engine, else `openai`'),
  exact_length: z
    .boolean()
    .optional()
    .describe(
      'Asks for answers as long as their limit, whatever the model would end with; not all servers can',
    ),
  idle_timeout_s: z.number().positive().default(60).describe('Longest silence inside a response (s)'),
  headers_timeout_s: z.number().positive().default(120).describe('Longest wait for a response to begin (s)'),
};

const started = {
  command: z
    .array(word)
    .min(1)
    .optional()
    .describe('Program with its first arguments; default: by kind. `command` may hold {port}, {model} …'),
  flags: z.array(word).default([]).describe('Further arguments, after those made of the settings here'),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string())
    .default({})
    .describe('Environment variables beside those of this process; they stand in run.json'),
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen on'),
  port: z.int().min(1).max(65_535).optional().describe('Port to listen on; default: any free one'),
  context_tokens: z.int().positive().optional().describe('Tokens that one call may take'),
  sequences: z.int().positive().optional().describe('Calls served side by side at most'),
  parallel: z
    .strictObject({
      tensor: z.int().positive().optional(),
      pipeline: z.int().positive().optional(),
      data: z.int().positive().optional(),
    })
    .optional()
    .describe('Devices a model is spread over, by the way it is split'),
  quantisation: text.optional().describe('Quantisation that the engine applies or is told of'),
  container: z
    .strictObject({
      runtime: z.enum(['docker', 'podman']).default('docker'),
      image: text,
      args: z.array(word).default([]).describe('Further arguments of `run`: devices, volumes'),
    })
    .optional()
    .describe('Runs the engine in a container; its digest is kept'),
  health: z
    .string()
    .regex(/^\/\S*$/, 'give a path that begins with /')
    .optional()
    .describe('Page that answers 200 once the server is ready; default: by kind'),
  ready_timeout_s: z.number().positive().max(86_400).default(900).describe('Longest wait until ready (s)'),
  stop_timeout_s: z
    .number()
    .positive()
    .max(3600)
    .default(15)
    .describe('Time to end by itself before it is killed (s)'),
};

const LaunchedEngine = z.strictObject({ kind: z.enum(engineKinds), ...started, ...callSettings });

const AgentEngine = z.strictObject({
  kind: z.literal('agent'),
  agent: text.describe('Entry of `power.agents`: the host that starts it'),
  engine: text.describe('Name of the engine in the file that the agent allows engines by'),
  ready_timeout_s: started.ready_timeout_s,
  ...callSettings,
});

/** One entry of `engines`: a server that is started where a cell needs it. */
export const Engine = z.discriminatedUnion('kind', [LaunchedEngine, AgentEngine]);
/** A server that this host starts. */
export type LaunchedEntry = z.infer<typeof LaunchedEngine>;
/** A server that another host's agent starts. */
export type AgentEngineEntry = z.infer<typeof AgentEngine>;
export type EngineEntry = LaunchedEntry | AgentEngineEntry;

/** The file by which an agent allows engines to be started: everything but the choice of a model is its own. */
export const AllowedEngines = z.strictObject({
  engines: z.record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:+-]{0,79}$/),
    z.strictObject({
      ...LaunchedEngine.shape,
      models: z.array(text).min(1).describe('Models that may be asked for, letter by letter'),
    }),
  ),
});
export type AllowedEngines = z.infer<typeof AllowedEngines>;

/** What a started server is, for provenance. Null where it does not say. */
export interface EngineFacts {
  readonly id: string;
  readonly kind: EngineKind;
  readonly version: string | null;
  /** What was executed, arguments included. */
  readonly argv: readonly string[];
  /** What it was told to load, and the name that calls give. */
  readonly model: string;
  readonly request_model: string;
  readonly image: string | null;
  /** Digest of the image in its registry, or its id where it has none. */
  readonly image_digest: string | null;
  /** Agent that runs it; null on this host. */
  readonly agent: string | null;
  /** From its start until it was ready, warm-up call included, ms. */
  readonly ready_ms: number;
  /** Name of its log, within the run folder's `engines` or on the agent's host. */
  readonly log: string | null;
}

/** A server that was started and is ready. */
export interface RunningEngine {
  /** Base address with `/v1`. */
  readonly url: string;
  readonly facts: EngineFacts;
  readonly profile: ProfileName;
  /** Its processes on this host. */
  readonly pids: readonly number[];
  /** Aborted with a `SERVER_DIED` error when it ends by itself. */
  readonly died: AbortSignal;
  /** Ends it and all its processes. Safe to call twice. */
  stop(): Promise<void>;
}

/** What an agent is asked to start. */
export interface EngineAsk {
  readonly engine: string;
  readonly model: string;
  /** Name that callers will use. */
  readonly name: string;
}

/** How an engine of an agent fares. */
export interface EngineStatus {
  readonly session: string;
  readonly state: 'starting' | 'ready' | 'failed' | 'stopped';
  /** What it is doing while it starts; why it failed. */
  readonly text: string;
  /** Once it is ready: the port it listens on, its facts and its profile. */
  readonly port: number | null;
  readonly facts: EngineFacts | null;
  readonly profile: ProfileName | null;
}

/** Starts engines on behalf of callers of an agent. A session that nobody asks about for half a minute is stopped. */
export interface EngineHost {
  /** Throws `SERVER_FAILED` for what is not allowed. */
  start(ask: EngineAsk): EngineStatus;
  /** Null for a session that is not known. */
  status(session: string): EngineStatus | null;
  stop(session: string): Promise<EngineStatus | null>;
  /** Stops every engine. */
  close(): Promise<void>;
}

/** What a server says of itself at one time. Null where it does not say. */
export interface ServerReading {
  /** Whose names it used: `vllm`, `sglang`, `llama-server` … */
  readonly names: string;
  /** Calls being worked on, and waiting for their turn. */
  readonly running: number | null;
  readonly waiting: number | null;
  /** Share of the key-value cache in use, 0…1. */
  readonly kv_cache_ratio: number | null;
  /** Counted since the server's start. */
  readonly prompt_tokens: number | null;
  readonly generation_tokens: number | null;
}
