import { messageOf, PerwattError, type TokenCounter } from '@perwatt/core';
import { resolveModel } from '../weights/store.js';
import type { WeightsWorld } from '../weights/weights-world.js';
import type { EngineModule, Model } from './engine-api.js';

/** The tokenizer of a model of this machine. */
export interface EmbeddedTokenizer extends TokenCounter {
  readonly count: (text: string) => number;
  close(): Promise<void>;
}

interface Vocabulary extends Model {
  dispose(): Promise<void>;
}

interface VocabularyLoader {
  loadModel(options: { readonly modelPath: string; readonly vocabOnly: true }): Promise<Vocabulary>;
  dispose(): Promise<void>;
}

/**
 * The tokenizer in a model's weight file, without its tensors: it counts as the model itself does, special tokens left out.
 * Throws as `resolveModel` does, and `CLIENT_UNREACHABLE` where the engine can't be loaded.
 */
export async function embeddedTokenizer(
  id: string,
  world: WeightsWorld,
  engineModule = 'node-llama-cpp',
): Promise<EmbeddedTokenizer> {
  const { path } = await resolveModel(id, world);
  try {
    const module = (await import(engineModule)) as EngineModule;
    const llama = (await module.getLlama({
      gpu: false,
      build: 'never',
      logLevel: 'error',
      maxThreads: 1,
      logger: () => {},
    })) as unknown as VocabularyLoader;
    const model = await llama.loadModel({ modelPath: path, vocabOnly: true });
    return {
      count: (text) => model.tokenize(text, false).length,
      async close() {
        await model.dispose();
        await llama.dispose();
      },
    };
  } catch (error) {
    throw new PerwattError(
      'CLIENT_UNREACHABLE',
      `the tokenizer of ${id} cannot be loaded: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}
