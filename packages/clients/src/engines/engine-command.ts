import { type EngineKind, type LaunchedEntry, PerwattError } from '@perwatt/core';

/** What an engine is started with beside its entry of the matrix. */
export interface EngineTarget {
  /** What it loads: a file, a repository or a name that it knows. */
  readonly model: string;
  /** Name that callers use where the engine lets it be chosen. */
  readonly name: string;
  readonly port: number;
}

/** A program to be executed, and what goes with it. */
export interface EngineCommand {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Name that calls give as their model. */
  readonly request_model: string;
  /** Page that answers 200 once calls can be served. */
  readonly health: string;
  /** For a server that does not live in the started process: what is executed once it serves, and to end it. */
  readonly daemon?: { readonly load: readonly string[]; readonly stop: readonly string[] };
}

type Entry = Pick<
  LaunchedEntry,
  | 'kind'
  | 'command'
  | 'flags'
  | 'env'
  | 'host'
  | 'context_tokens'
  | 'sequences'
  | 'parallel'
  | 'quantisation'
  | 'health'
  | 'container'
>;

/** The settings that a kind may have, each with the words that carry it. */
type Settings = Readonly<Partial<Record<Setting, (value: string, entry: Entry) => readonly string[]>>>;
type Setting = 'context_tokens' | 'sequences' | 'tensor' | 'pipeline' | 'data' | 'quantisation';

interface Recipe {
  readonly command: readonly string[];
  readonly base: (target: EngineTarget, entry: Entry) => readonly string[];
  readonly settings: Settings;
  readonly health: string;
  /** Whether callers use `name`; otherwise what was loaded. */
  readonly named: boolean;
  readonly env?: (target: EngineTarget, entry: Entry) => Readonly<Record<string, string>>;
}

const flag = (name: string) => (value: string) => [name, value];
const pair = (name: string) => (value: string) => [`${name}=${value}`];
const none = () => [];

const recipes: Readonly<Record<Exclude<EngineKind, 'command' | 'lmstudio'>, Recipe>> = {
  vllm: {
    command: ['vllm', 'serve'],
    base: ({ model, name, port }, { host }) => [
      model,
      ...['--served-model-name', name, '--host', host, '--port', String(port)],
    ],
    settings: {
      context_tokens: flag('--max-model-len'),
      sequences: flag('--max-num-seqs'),
      tensor: flag('--tensor-parallel-size'),
      pipeline: flag('--pipeline-parallel-size'),
      data: flag('--data-parallel-size'),
      quantisation: flag('--quantization'),
    },
    health: '/health',
    named: true,
  },
  sglang: {
    command: ['python3', '-m', 'sglang.launch_server'],
    base: ({ model, name, port }, { host }) => [
      ...['--model-path', model, '--served-model-name', name],
      ...['--host', host, '--port', String(port), '--enable-metrics'],
    ],
    settings: {
      context_tokens: flag('--context-length'),
      sequences: flag('--max-running-requests'),
      tensor: flag('--tp-size'),
      pipeline: flag('--pp-size'),
      data: flag('--dp-size'),
      quantisation: flag('--quantization'),
    },
    health: '/health',
    named: true,
  },
  'llama-server': {
    command: ['llama-server'],
    base: ({ model, name, port }, { host }) => [
      ...[/^[^/.~][^/]*\/[^/]+$/.test(model) && !model.endsWith('.gguf') ? '-hf' : '-m', model],
      ...['--alias', name, '--host', host, '--port', String(port), '--metrics'],
    ],
    settings: {
      // Its context is shared out to its slots.
      context_tokens: (value, { sequences }) => ['--ctx-size', String(Number(value) * (sequences ?? 1))],
      sequences: flag('--parallel'),
    },
    health: '/health',
    named: true,
  },
  ollama: {
    command: ['ollama', 'serve'],
    base: () => [],
    settings: { context_tokens: none, sequences: none },
    health: '/api/version',
    named: false,
    env: ({ port }, { host, context_tokens, sequences }) => ({
      OLLAMA_HOST: `${host}:${port}`,
      OLLAMA_KEEP_ALIVE: '-1',
      ...(context_tokens === undefined ? {} : { OLLAMA_CONTEXT_LENGTH: String(context_tokens) }),
      ...(sequences === undefined ? {} : { OLLAMA_NUM_PARALLEL: String(sequences) }),
    }),
  },
  tokasaurus: {
    command: ['tksrs'],
    base: ({ model, port }) => [`model=${model}`, `port=${port}`],
    settings: {
      context_tokens: pair('max_num_tokens_per_request'),
      sequences: pair('max_seqs_per_forward'),
      tensor: pair('tp_size'),
      pipeline: pair('pp_size'),
      data: pair('dp_size'),
    },
    health: '/ping',
    named: false,
  },
};

/**
 * What to execute for an engine. Throws `INPUT_INVALID` for a setting that its kind has no argument for, and for a
 * `command` without its program or with a placeholder that is not known.
 */
export function engineCommand(id: string, entry: Entry, target: EngineTarget): EngineCommand {
  if (target.model.startsWith('-') || target.name.startsWith('-'))
    throw invalid(id, `model "${target.model}" begins with a dash and would be read as a flag`);
  if (entry.kind === 'command') return anyProgram(id, entry, target);
  if (entry.kind === 'lmstudio') return lmStudio(id, entry, target);
  const recipe = recipes[entry.kind];
  return {
    argv: [
      ...(entry.command ?? recipe.command),
      ...recipe.base(target, entry),
      ...settingWords(id, entry, recipe.settings),
      ...entry.flags,
    ],
    env: { ...recipe.env?.(target, entry), ...entry.env },
    request_model: recipe.named ? target.name : target.model,
    health: entry.health ?? recipe.health,
  };
}

const invalid = (id: string, what: string) => new PerwattError('INPUT_INVALID', `engine "${id}": ${what}`);

/** The settings of an entry as texts; null where they are not made. */
const valuesOf = ({ context_tokens, sequences, parallel, quantisation }: Entry) => ({
  context_tokens: context_tokens?.toString() ?? null,
  sequences: sequences?.toString() ?? null,
  tensor: parallel?.tensor?.toString() ?? null,
  pipeline: parallel?.pipeline?.toString() ?? null,
  data: parallel?.data?.toString() ?? null,
  quantisation: quantisation ?? null,
});

function settingWords(id: string, entry: Entry, settings: Settings): string[] {
  const values = valuesOf(entry);
  return (Object.keys(values) as Setting[]).flatMap((setting) => {
    const value = values[setting];
    if (value === null) return [];
    const words = settings[setting];
    if (words === undefined)
      throw invalid(id, `kind ${entry.kind} has no argument for ${setting}; use \`flags\` or \`env\``);
    return words(value, entry);
  });
}

function anyProgram(id: string, entry: Entry, target: EngineTarget): EngineCommand {
  const { command, flags, env, host, health } = entry;
  if (command === undefined)
    throw invalid(id, 'kind command needs `command`, the program with its arguments');
  const { model, name, port } = target;
  const values: Readonly<Record<string, string | null>> = {
    ...valuesOf(entry),
    model,
    name,
    host,
    port: String(port),
  };
  const used = new Set<string>();
  const fill = (text: string) =>
    text.replace(/\{([a-z_]+)\}/g, (_, key: string) => {
      used.add(key);
      const value = values[key];
      if (value === undefined)
        throw invalid(id, `{${key}} is not known; there are ${Object.keys(values).join(', ')}`);
      if (value === null) throw invalid(id, `{${key}} stands in its command, but ${key} is not set`);
      return value;
    });
  const argv = [...command, ...flags].map(fill);
  const filled = Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)]));
  if (!used.has('port') && entry.kind === 'command')
    throw invalid(id, 'its command says nowhere which {port} to listen on');
  const idle = Object.entries(valuesOf(entry)).find(([key, value]) => value !== null && !used.has(key));
  if (idle !== undefined) throw invalid(id, `${idle[0]} is set, but its command has no {${idle[0]}}`);
  return {
    argv,
    env: filled,
    request_model: used.has('name') ? name : model,
    health: health ?? '/v1/models',
  };
}

/** LM Studio serves from a process of its own: one command asks it to serve, one to load, one to end. */
function lmStudio(id: string, entry: Entry, { model, name, port }: EngineTarget): EngineCommand {
  if (entry.container !== undefined) throw invalid(id, 'kind lmstudio does not run in a container');
  const program = entry.command ?? ['lms'];
  const settings = { context_tokens: flag('--context-length') };
  return {
    argv: [...program, 'server', 'start', '--port', String(port)],
    env: entry.env,
    request_model: name,
    health: entry.health ?? '/v1/models',
    daemon: {
      load: [
        ...[...program, 'load', model, '--identifier', name, '-y'],
        ...settingWords(id, entry, settings),
        ...entry.flags,
      ],
      stop: [...program, 'server', 'stop'],
    },
  };
}
