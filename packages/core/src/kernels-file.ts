import * as z from 'zod';

/** Names of the kernels that can be run. */
export const kernelNames = [
  'copy',
  'triad',
  'fma',
  'gemm',
  'gemv',
  'int4_gemv',
  'prefill',
  'decode',
  'shared_prefix',
  'rms_norm',
  'softmax',
] as const;
/** One of `kernelNames`. */
export type KernelName = (typeof kernelNames)[number];

/** Number types of a kernel's inputs. Weights of 4 bits are a kernel of their own, whose type is that of the activations. */
export const kernelTypes = ['f32', 'tf32', 'f16', 'bf16', 'fp8_e4m3', 'int8'] as const;
/** One of `kernelTypes`. */
export type KernelType = (typeof kernelTypes)[number];

/** Types that activations and caches are kept in. */
export const activationTypes = ['f32', 'f16', 'bf16'] as const;
/** One of `activationTypes`. */
export type ActivationType = (typeof activationTypes)[number];

/** Types that weights are kept in; `int4_zeros` has a zero point beside the scale of each group. */
export const weightTypes = [...activationTypes, 'int8', 'int4', 'int4_zeros'] as const;
/** One of `weightTypes`. */
export type WeightType = (typeof weightTypes)[number];

const counts = z.array(z.int().positive().max(10_000_000)).min(1).max(20);

/** Key `kernels`. */
export const Kernels = z
  .strictObject({
    when: z
      .enum(['before', 'after', 'both'])
      .default('after')
      .describe('When they are run: before the first cell, after the last one, or both'),
    devices: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        'Devices by the ids that `perwatt kernels list` prints; default: all that are no software drivers',
      ),
    models: z
      .array(z.string().min(1))
      .min(1)
      .optional()
      .describe(
        'Models whose kernels are run, by names of the catalogue; default: the models of the axis that it knows',
      ),
    batch: counts.default([1]).describe('Sequences of a step'),
    context: counts.default([1024]).describe('Tokens that a decode step attends to'),
    weights: z
      .enum(weightTypes)
      .default('f16')
      .describe(
        'Type of the weights: the one that the engine loads, `int8` for Q8_0, `int4` for Q4_0, `int4_zeros` (a zero point for each group) for Q4_1, AWQ and GPTQ',
      ),
    head_weights: z
      .enum(weightTypes)
      .optional()
      .describe("Type of the head's weights; default: as the others"),
    activations: z
      .enum(activationTypes)
      .optional()
      .describe('Type of activations and cache; default: that of floating weights, else `f16`'),
    threads: z
      .int()
      .positive()
      .max(4096)
      .optional()
      .describe(
        "Threads of the processor's kernels: as many as the engine has, to explain its times; default: all",
      ),
    time_s: z
      .number()
      .positive()
      .max(600)
      .default(1)
      .describe('Most time that one implementation is timed (s)'),
    energy: z
      .boolean()
      .default(false)
      .describe(
        'Measures the energy of each kernel too, where a counter measures its device: half a minute each',
      ),
    deadline_s: z
      .number()
      .min(5)
      .max(7200)
      .default(180)
      .describe('Silence after which a driver is taken to hang, and its process is replaced (s)'),
  })
  .describe(
    'Kernels that inference is made of, run beside the cells: what they explain of the measured times',
  );
export type Kernels = z.infer<typeof Kernels>;
