import { createRng } from '@perwatt/core';

export interface GgufFixtureOptions {
  /** Default 1. The same seed gives the same bytes. */
  readonly seed?: number;
  /** Chat template written into the file; null leaves it without one. Default: a small ChatML. */
  readonly chatTemplate?: string | null;
}

/** Shape of the fixture: a llama of 0.26 million parameters. */
export const ggufShape = {
  context_tokens: 512,
  hidden: 64,
  layers: 3,
  feed_forward: 160,
  heads: 4,
  kv_heads: 2,
  vocabulary: 1024,
} as const;

const CHAT_TEMPLATE =
  "{% for message in messages %}{{ '[' + message['role'] + ']\\n' + message['content'] + '</s>\\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '[assistant]\\n' }}{% endif %}";

const ALIGNMENT = 32;
const TYPE_F32 = 0;
const TYPE_Q8_0 = 8;
/** `<unk>`, `<s>`, `</s>` and the bytes. */
const SILENT_TOKENS = 3 + 256;

/**
 * A weight file in GGUF version 3 that llama.cpp loads: random weights, so its text means nothing, but it is always the same
 * text. About 0.3 MB; with it the embedded engine is tested without a download.
 */
export function ggufFixture(options: GgufFixtureOptions = {}): Uint8Array {
  const rng = createRng(options.seed ?? 1);
  const tensors = tensorList().map((tensor) => ({ ...tensor, data: tensorData(tensor, rng) }));
  const fields = metadata(options.chatTemplate === undefined ? CHAT_TEMPLATE : options.chatTemplate);
  const header: Buffer[] = [
    Buffer.from('GGUF'),
    u32(3),
    u64(tensors.length),
    u64(fields.length),
    ...fields.flatMap(([key, value]) => [text(key), value]),
  ];
  let offset = 0;
  for (const { name, dims, type, data } of tensors) {
    header.push(text(name), u32(dims.length), ...dims.map(u64), u32(type), u64(offset));
    offset += padded(data.length);
  }
  const head = Buffer.concat(header);
  return Buffer.concat([pad(head), ...tensors.map(({ data }) => pad(data))]);
}

interface Tensor {
  readonly name: string;
  /** Input width first. */
  readonly dims: readonly number[];
  readonly type: typeof TYPE_F32 | typeof TYPE_Q8_0;
  readonly deviation: number;
}

function tensorList(): Tensor[] {
  const { hidden, layers, feed_forward, heads, kv_heads, vocabulary } = ggufShape;
  const kv = (hidden / heads) * kv_heads;
  const norm = (name: string): Tensor => ({ name, dims: [hidden], type: TYPE_F32, deviation: 0 });
  const matrix = (name: string, into: number, out: number, deviation = 0.05): Tensor => ({
    name,
    dims: [into, out],
    type: TYPE_Q8_0,
    deviation,
  });
  const block = (layer: number) => {
    const named = (part: string) => `blk.${layer}.${part}.weight`;
    return [
      norm(named('attn_norm')),
      matrix(named('attn_q'), hidden, hidden),
      matrix(named('attn_k'), hidden, kv),
      matrix(named('attn_v'), hidden, kv),
      matrix(named('attn_output'), hidden, hidden),
      norm(named('ffn_norm')),
      matrix(named('ffn_gate'), hidden, feed_forward),
      matrix(named('ffn_up'), hidden, feed_forward),
      matrix(named('ffn_down'), feed_forward, hidden),
    ];
  };
  return [
    matrix('token_embd.weight', hidden, vocabulary, 0.5),
    ...Array.from({ length: layers }, (_, layer) => block(layer)).flat(),
    norm('output_norm.weight'),
    matrix('output.weight', hidden, vocabulary, 0.3),
  ];
}

/** Norms are ones; matrices are normal numbers in blocks of 32: a half-precision scale and 32 bytes. */
function tensorData({ name, dims, type, deviation }: Tensor, rng: () => number): Buffer {
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (type === TYPE_F32) return Buffer.from(new Float32Array(count).fill(1).buffer);
  const data = Buffer.alloc((count / 32) * 34);
  const values = new Float64Array(32);
  // Rows of zeros: end tokens and bytes are never the most likely, so that answers are words and run to their limit.
  const silent = name === 'output.weight' ? (ggufShape.hidden / 32) * 34 * SILENT_TOKENS : 0;
  for (let at = silent; at < data.length; at += 34) {
    for (let i = 0; i < 32; i += 1) values[i] = deviation * normal(rng);
    const scale = Math.max(...values.map(Math.abs)) / 127;
    data.writeUInt16LE(half(scale), at);
    values.forEach((value, i) => {
      data.writeInt8(Math.round(value / scale), at + 2 + i);
    });
  }
  return data;
}

/** A standard normal number by Box and Muller. */
const normal = (rng: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - rng())) * Math.cos(2 * Math.PI * rng());

/** The bits of a positive number as half precision, rounded down; for the normal range only. */
function half(value: number): number {
  const exponent = Math.floor(Math.log2(value));
  const mantissa = Math.floor((value / 2 ** exponent - 1) * 1024);
  if (exponent < -14) return Math.round(value / 2 ** -24);
  return ((exponent + 15) << 10) | mantissa;
}

const CONTROL = 3;

/** `<unk>`, `<s>`, `</s>`, a token per byte, then letters, blanks and made-up words. */
function vocabulary(): { readonly tokens: string[]; readonly types: number[] } {
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const letters = Array.from({ length: 26 }, (_, i) => String.fromCharCode(97 + i));
  const onsets = [...'bdfgklmnprstvz'];
  const vowels = [...'aeiou'];
  const syllables = onsets.flatMap((onset) => vowels.map((vowel) => onset + vowel));
  const words = syllables.flatMap((first) => syllables.map((second) => `▁${first}${second}`));
  const special = ['<unk>', '<s>', '</s>'];
  const rest = ['▁', ...letters, ...syllables, ...words].slice(
    0,
    ggufShape.vocabulary - special.length - 256,
  );
  return {
    tokens: [...special, ...bytes, ...rest],
    types: [2, CONTROL, CONTROL, ...bytes.map(() => 6), ...rest.map(() => 1)],
  };
}

function metadata(chatTemplate: string | null): (readonly [string, Buffer])[] {
  const { context_tokens, hidden, layers, feed_forward, heads, kv_heads } = ggufShape;
  const { tokens, types } = vocabulary();
  return [
    ['general.architecture', field.text('llama')],
    ['general.name', field.text('perwatt-fixture')],
    ['general.file_type', field.u32(7)],
    ['llama.context_length', field.u32(context_tokens)],
    ['llama.embedding_length', field.u32(hidden)],
    ['llama.block_count', field.u32(layers)],
    ['llama.feed_forward_length', field.u32(feed_forward)],
    ['llama.attention.head_count', field.u32(heads)],
    ['llama.attention.head_count_kv', field.u32(kv_heads)],
    ['llama.attention.layer_norm_rms_epsilon', field.f32(1e-5)],
    ['llama.rope.dimension_count', field.u32(hidden / heads)],
    ['llama.rope.freq_base', field.f32(10_000)],
    ['llama.vocab_size', field.u32(tokens.length)],
    ['tokenizer.ggml.model', field.text('llama')],
    ['tokenizer.ggml.pre', field.text('default')],
    ['tokenizer.ggml.tokens', field.list(8, tokens.map(text))],
    [
      'tokenizer.ggml.scores',
      field.list(
        6,
        tokens.map((_, i) => f32(-i)),
      ),
    ],
    ['tokenizer.ggml.token_type', field.list(5, types.map(u32))],
    ['tokenizer.ggml.bos_token_id', field.u32(1)],
    ['tokenizer.ggml.eos_token_id', field.u32(2)],
    ['tokenizer.ggml.unknown_token_id', field.u32(0)],
    ['tokenizer.ggml.add_bos_token', field.bool(true)],
    ...(chatTemplate === null ? [] : [['tokenizer.chat_template', field.text(chatTemplate)] as const]),
  ];
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const f32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
};
const text = (value: string): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
};

/** Metadata values: a number for the type, then the value. */
const field = {
  u32: (value: number) => Buffer.concat([u32(4), u32(value)]),
  f32: (value: number) => Buffer.concat([u32(6), f32(value)]),
  bool: (value: boolean) => Buffer.concat([u32(7), Buffer.from([Number(value)])]),
  text: (value: string) => Buffer.concat([u32(8), text(value)]),
  list: (type: number, items: readonly Buffer[]) =>
    Buffer.concat([u32(9), u32(type), u64(items.length), ...items]),
};

const padded = (length: number): number => Math.ceil(length / ALIGNMENT) * ALIGNMENT;
const pad = (data: Buffer): Buffer => Buffer.concat([data, Buffer.alloc(padded(data.length) - data.length)]);
