import { didYouMean, kernelNames, kernelTypes, PerwattError } from '@perwatt/core';
import * as z from 'zod';
import { KernelSpec } from './kernel-spec.js';

const usual: Readonly<Partial<Record<KernelSpec['kind'], object>>> = {
  prefill: { causal: true },
  shared_prefix: { method: 'shared' },
  int4_gemv: { group: 32, scales: 'f16', zero_points: false },
  gemv: { batch: 1 },
};

/**
 * A kernel as people write it: its name, its type, and its sizes, `gemm bf16 m=8192 n=8192 k=8192`. What else there is to say is
 * `key=value` too: `causal=false`, `method=naive`, `group=128`. Throws `USAGE` naming what is wrong.
 */
export function parseSpec(text: string): KernelSpec {
  const [kind = '', dtype = '', ...pairs] = text.trim().split(/\s+/);
  const name = kernelNames.find((known) => known === kind);
  if (name === undefined) throw wrong(text, `no kernel is called "${kind}"${didYouMean(kind, kernelNames)}`);
  if (!kernelTypes.some((type) => type === dtype))
    throw wrong(text, `its second word must be a type: ${kernelTypes.join(', ')}`);
  const given = Object.fromEntries(pairs.map((pair) => pairOf(pair, text)));
  const parsed = KernelSpec.safeParse({ kind: name, dtype, ...usual[name], ...given });
  if (parsed.success) return parsed.data;
  throw wrong(
    text,
    z
      .prettifyError(parsed.error)
      .replaceAll(/\s*\n\s*/g, ' ')
      .replaceAll('✖ ', ''),
  );
}

function pairOf(pair: string, text: string): [string, string | number | boolean] {
  const cut = pair.indexOf('=');
  if (cut < 1) throw wrong(text, `"${pair}" is not key=value`);
  const [key, value] = [pair.slice(0, cut), pair.slice(cut + 1)];
  if (/^\d+$/.test(value)) return [key, Number(value)];
  return [key, value === 'true' ? true : value === 'false' ? false : value];
}

const wrong = (text: string, what: string): PerwattError =>
  new PerwattError('USAGE', `"${text}" is no kernel: ${what}`, {
    hint: 'Write it like "gemm bf16 m=8192 n=8192 k=8192" or "decode f16 batch=1 heads=32 kv_heads=8 head_dim=128 length=4096".',
  });
