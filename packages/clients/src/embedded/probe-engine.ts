import { messageOf, type Probe } from '@perwatt/core';
import type { EngineModule } from './engine-api.js';

/** Tries to load the embedded engine, without a model. */
export async function probeEngine(engineModule = 'node-llama-cpp'): Promise<Probe[]> {
  const tried = { name: 'llama.cpp', area: 'engine' } as const;
  let module: EngineModule;
  try {
    module = (await import(engineModule)) as EngineModule;
  } catch (error) {
    const detail = `the optional package ${engineModule} cannot be loaded: ${messageOf(error)}`;
    return [{ ...tried, usable: false, detail, fix: 'npm install --include=optional' }];
  }
  try {
    const llama = await module.getLlama({
      gpu: false,
      build: 'never',
      logLevel: 'error',
      maxThreads: 1,
      logger: () => {},
    });
    const detail = `llama.cpp ${llama.llamaCppRelease.release} by node-llama-cpp ${await module.getModuleVersion()}`;
    return [{ ...tried, usable: true, detail, fix: null }];
  } catch (error) {
    const detail = `no ready-made build of the engine runs here: ${messageOf(error)}`;
    return [{ ...tried, usable: false, detail, fix: 'npm install --include=optional' }];
  }
}
