import { expect, test } from 'vitest';
import { openEngine } from './engine.js';
import type { EngineModule, Llama } from './engine-api.js';
import type { EngineOptions } from './protocol.js';

const options: EngineOptions = {
  modelPath: 'm.gguf',
  threads: 1,
  gpu: true,
  contextTokens: null,
  sequences: 1,
  engineModule: 'engine',
};

/** An engine on a host with these GPUs, whose models can't be loaded. */
const engineWith = (gpu: string | false, names: readonly string[]): EngineModule => {
  const llama: Llama = {
    gpu,
    llamaCppRelease: { release: 'v1' },
    getGpuDeviceNames: async () => [...names],
    loadModel: async () => {
      throw new Error('it goes on to load the model');
    },
  };
  return {
    getLlama: async () => llama,
    getModuleVersion: async () => '1.0.0',
    JinjaTemplateChatWrapper: class {
      generateContextState = () => ({ contextText: { tokenize: () => [] } });
    },
    GgufFileType: {},
  };
};

// biome-ignore format: a table is read in columns
test.each<[why: string, gpu: string | false, names: readonly string[], wants: boolean, said: string]>([
  ['a GPU is there',                        'cuda',   ['NVIDIA H200'],               true,  'it goes on to load the model'],
  ['a GPU beside a software driver',        'vulkan', ['llvmpipe (LLVM 15)', 'Arc'], true,  'it goes on to load the model'],
  ['no driver',                             false,    [],                            true,  'asks for a GPU, and the engine finds none here'],
  ['a driver without a device',             'vulkan', [],                            true,  'asks for a GPU, and the engine finds none here'],
  ['a driver that computes on the processor', 'vulkan', ['llvmpipe (LLVM 15)'],      true,  'only the software driver llvmpipe (LLVM 15)'],
  ['no GPU is asked for',                   false,    [],                            false, 'it goes on to load the model'],
])('figures of the processor never stand under the name of a GPU: %s', async (_why, gpu, names, wants, said) => {
  const opened = openEngine(engineWith(gpu, names), { ...options, gpu: wants }, () => {});
  await expect(opened).rejects.toThrow(said);
});
