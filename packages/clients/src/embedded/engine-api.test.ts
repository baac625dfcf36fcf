import type * as library from 'node-llama-cpp';
import { expectTypeOf, test } from 'vitest';
import type { EngineModule, EvaluateOptions } from './engine-api.js';

type Model = library.LlamaModel;

test('what is written down of the engine agrees with its own types', () => {
  expectTypeOf<typeof library>().toHaveProperty('getLlama');
  expectTypeOf<typeof library>().toHaveProperty('getModuleVersion');
  expectTypeOf<typeof library>().toHaveProperty('JinjaTemplateChatWrapper');
  expectTypeOf<Model['tokens']['shouldPrependBosToken']>().toEqualTypeOf<boolean>();
  expectTypeOf<Model['trainContextSize']>().toEqualTypeOf<number>();
  expectTypeOf<ReturnType<Model['isEogToken']>>().toEqualTypeOf<boolean>();
  expectTypeOf<
    Exclude<keyof EvaluateOptions, keyof library.SequenceEvaluateOptions>
  >().toEqualTypeOf<never>();
  expectTypeOf<Exclude<keyof EngineModule, keyof typeof library>>().toEqualTypeOf<never>();
});
