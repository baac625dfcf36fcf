import type { EngineModule, Llama, Model, Sequence } from './engine-api.js';
import { generate, noAnswer } from './generate.js';
import { type ChatFormat, chatFormat, promptTokens } from './prompt.js';
import type { EngineAnswer, EngineFacts, EngineOptions, ToEngine } from './protocol.js';
import { createPool, type Pool } from './sequence-pool.js';
import { messageOf } from './thrown.js';

const DEFAULT_CONTEXT_TOKENS = 4096;

/** A loaded model that answers calls. */
export interface Engine {
  readonly facts: EngineFacts;
  /** Never rejects. `onText` is given each piece of text as it comes. */
  answer(
    call: Extract<ToEngine, { kind: 'call' }>,
    signal: AbortSignal,
    onText?: (text: string) => void,
  ): Promise<EngineAnswer>;
}

/** Loads the model. Throws what the engine throws; what it logged on the way is in `log`. */
export async function openEngine(
  module: EngineModule,
  options: EngineOptions,
  log: (line: string) => void,
): Promise<Engine> {
  const llama = await module.getLlama({
    gpu: options.gpu ? 'auto' : false,
    build: 'never',
    logLevel: 'error',
    maxThreads: options.threads,
    logger: (_level, message) => log(message.trim()),
  });
  const devices = options.gpu ? await gpusOf(llama) : [];
  const model = await llama.loadModel({ modelPath: options.modelPath });
  const context_tokens =
    options.contextTokens ??
    Math.min(model.trainContextSize || DEFAULT_CONTEXT_TOKENS, DEFAULT_CONTEXT_TOKENS);
  const context = await model.createContext({
    contextSize: context_tokens,
    sequences: options.sequences,
    threads: options.threads,
  });
  const sequences = Array.from({ length: options.sequences }, () => context.getSequence());
  const format = chatFormat(module, model);
  const parts = { model, format, pool: createPool(sequences), context_tokens };
  return {
    facts: {
      engine_version: await versionOf(module, llama, devices),
      quantisation: quantisationOf(module, model),
      chat_template_sha256: format.sha256,
      context_tokens,
      threads: options.threads,
    },
    answer: (call, signal, onText) =>
      answerCall(parts, call, { signal, ...(onText === undefined ? {} : { onText }) }),
  };
}

interface Parts {
  readonly model: Model;
  readonly format: ChatFormat;
  readonly pool: Pool<Sequence>;
  readonly context_tokens: number;
}

interface Listening {
  readonly signal: AbortSignal;
  readonly onText?: (text: string) => void;
}

async function answerCall(
  { model, format, pool, context_tokens }: Parts,
  { input, sampling }: Extract<ToEngine, { kind: 'call' }>,
  listening: Listening,
): Promise<EngineAnswer> {
  let prompt: number[];
  try {
    prompt = promptTokens(input, model, format);
  } catch (error) {
    return noAnswer(0, {
      kind: 'prompt_invalid',
      message: `the prompt cannot be formed: ${messageOf(error)}`,
    });
  }
  if (prompt.length === 0) return noAnswer(0, { kind: 'prompt_invalid', message: 'the prompt is empty' });
  // One place stays free: the engine would otherwise shift the context and forget the beginning.
  const room = context_tokens - 1;
  if (prompt.length >= room) {
    const message = `the prompt has ${prompt.length} tokens, but the context holds ${context_tokens}`;
    return noAnswer(prompt.length, { kind: 'context_overflow', message });
  }
  const sequence = await pool.take(listening.signal);
  if (sequence === null) return noAnswer(prompt.length, null);
  try {
    const stops = [...(sampling.stop ?? []), ...(input.kind === 'chat' ? format.stops : [])];
    return await generate({
      model,
      sequence,
      prompt,
      sampling,
      stops,
      context_tokens: room,
      now: process.hrtime.bigint,
      ...listening,
    });
  } catch (error) {
    return noAnswer(prompt.length, { kind: 'engine_error', message: messageOf(error) });
  } finally {
    await sequence.clearHistory();
    pool.give(sequence);
  }
}

/** Drivers that compute on the processor under the name of a GPU. */
const software = /llvmpipe|lavapipe|swiftshader/i;

/** The GPUs that a model would be computed on. Throws where there are none: figures of the processor would stand under a GPU's name. */
async function gpusOf(llama: Llama): Promise<readonly string[]> {
  const names = llama.gpu === false ? [] : await llama.getGpuDeviceNames();
  const real = names.filter((name) => !software.test(name));
  if (real.length > 0) return real;
  const seen = names.length === 0 ? '' : `, only the software driver ${names.join(', ')}`;
  throw new Error(`the accelerator asks for a GPU, and the engine finds none here${seen}`);
}

/** `llama.cpp 1.2 (cpu, …)`; of GPUs by their names. */
async function versionOf(module: EngineModule, llama: Llama, devices: readonly string[]): Promise<string> {
  const compute = devices.length === 0 ? 'cpu' : `${llama.gpu}: ${[...new Set(devices)].join(', ')}`;
  const binding = await module.getModuleVersion();
  return `llama.cpp ${llama.llamaCppRelease.release} (${compute}, node-llama-cpp ${binding})`;
}

/** The quantisation that the weight file declares (`Q4_1`), or null. */
function quantisationOf(module: EngineModule, model: Model): string | null {
  const type = model.fileInfo.metadata.general.file_type;
  const name = type === undefined ? undefined : module.GgufFileType[type];
  return name?.replace(/^MOSTLY_/, '') ?? null;
}
