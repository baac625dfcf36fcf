import { PerwattError } from '@perwatt/core';
import { describe, expect, test } from 'vitest';
import { aiBenchmarks } from './ai-benchmarks.js';
import { ecocompute } from './ecocompute.js';
import { fileOf, ofMetric, rowsOf } from './foreign-files.fixture.js';
import { importerByKind, importers } from './importers.js';
import { mlEnergy } from './ml-energy.js';
import { powerCap } from './power-cap.js';

const systems = (...lines: readonly string[]) =>
  ['model,system,compute,output_tokens_per_s,wall_power_peak_w,llama_cpp_vulkan,source_url', ...lines].join(
    '\n',
  );
const caps = (...lines: readonly string[]) =>
  ['power_cap_w,draft_depth,output_tokens_per_s,gpu_power_mean_w,draft_acceptance', ...lines].join('\n');
const formats = (...lines: readonly string[]) =>
  [
    'model,config,precision,throughput_mean,throughput_std,power_mean,power_std,energy_per_1k_tokens_mean,energy_per_1k_tokens_std,delta_energy_pct,n_runs',
    ...lines,
  ].join('\n');

const configuration = {
  model_id: 'a/b',
  nickname: 'B',
  architecture: 'Dense',
  gpu_model: 'H100',
  weight_precision: 'bfloat16',
  num_gpus: 1,
  tensor_parallel: 1,
  expert_parallel: 1,
  data_parallel: 1,
  max_num_seqs: 8,
  total_params_billions: 8,
  activated_params_billions: 8,
  avg_batch_size: 7,
  avg_output_len: 100,
  avg_power_watts: 400,
  energy_per_token_joules: 2,
  energy_per_request_joules: 200,
  output_throughput_tokens_per_sec: 200,
  median_itl_ms: 10,
  p90_itl_ms: 11,
  p95_itl_ms: 12,
  p99_itl_ms: 13,
};
const task = (...configurations: readonly unknown[]) =>
  JSON.stringify({ task: 't', task_display_name: 'T', configurations });
const without = (key: keyof typeof configuration) =>
  Object.fromEntries(Object.entries(configuration).filter(([name]) => name !== key));

// biome-ignore format: a table is read in columns
test.each([
  [aiBenchmarks, systems('m,s,GPU,abc,100,0,u'),                   /^f:2: output_tokens_per_s is "abc", not a number$/,      'a word for a number'],
  [aiBenchmarks, systems('m,s,GPU,1,100,0,u', 'm,s,GPU,2'),        /^f:3: 4 cells where the header has 7 columns$/,           'a line cut off'],
  [aiBenchmarks, systems('m,s,GPU,-1,100,0,u'),                    /^f:2: output_tokens_per_s is -1, but must be above 0$/,   'a negative rate'],
  [aiBenchmarks, systems('m,s,GPU,1,0,0,u'),                       /^f:2: wall_power_peak_w is 0, but must be above 0$/,      'zero watts are no reading'],
  [aiBenchmarks, systems('m,s,GPU,Infinity,1,0,u'),                /^f:2: output_tokens_per_s is "Infinity", not a number$/,  'not finite'],
  [aiBenchmarks, systems('m,s,GPU,0x10,1,0,u'),                    /^f:2: output_tokens_per_s is "0x10", not a number$/,      'a number that only a program reads so'],
  [aiBenchmarks, systems('m\u0000,s,GPU,1,1,0,u'),                 /^f:2: model is "m\\u0000", with a control character$/,    'bytes that are no text'],
  [mlEnergy,     task({ ...configuration, total_params_billions: 1e300 }), /^f: record 1: total_params of energy_per_output_token_j is Infinity, no finite number$/, 'beyond a double in our unit'],
  [aiBenchmarks, systems(',s,GPU,1,1,0,u'),                        /^f:2: model is empty$/,                                   'no model'],
  [aiBenchmarks, systems(),                                        /^f: the file has no records$/,                            'only a header'],
  [aiBenchmarks, '',                                               /^f:1: the file has no header$/,                           'an empty file'],
  [aiBenchmarks, systems().replace('compute', 'device'),           /^f:1: columns have changed: "compute" missing, "device" not known; expected "model", /, 'a column renamed upstream'],
  [aiBenchmarks, systems().replace('system', 'model'),             /"system" missing, "model" given twice/,                   'a column twice'],
  [aiBenchmarks, systems('m,"s,GPU,1,1,0,u'),                      /^f:\d: quote not closed/i,                                'a quote left open'],
  [powerCap,     caps('400,0.5,70,400,'),                          /^f:2: draft_depth is 0.5, not a count$/,                  'half a token'],
  [powerCap,     caps('400,1,70,400,1.2'),                         /^f:2: draft_acceptance is 1.2, not a share$/,             'more accepted than drafted'],
  [ecocompute,   formats('TinyLlama-1.1B,FP16,16,1,1,1,1,1,1,0,10'), /^f: the file does not say which GPU/,                   'no GPU in the file nor its name'],
  [ecocompute,   'a,b\n1,2',                                       /^f:1: columns "a", "b" are none of the four layouts/,     'another file'],
  [ecocompute,   '',                                               /^f:1: the file is empty$/,                                'nothing at all'],
  [mlEnergy,     '{',                                              /^f: not JSON: /,                                          'cut off'],
  [mlEnergy,     '[]',                                             /^f: not an object$/,                                      'a list'],
  [mlEnergy,     '{"rows":[]}',                                    /^f: keys are rows; expected task, /,                      'another layout'],
  [mlEnergy,     task(configuration, without('gpu_model')),        /^f: configurations\[1\]: keys have changed: "gpu_model" missing; expected model_id/, 'a key dropped upstream'],
  [mlEnergy,     task({ ...configuration, unit: 'kJ' }),           /"unit" not known/,                                        'a key added upstream may change meanings'],
  [mlEnergy,     task({ ...configuration, avg_power_watts: null }), /configurations\[0\]: avg_power_watts is null, not a number above 0$/, 'a null'],
  [mlEnergy,     task({ ...configuration, num_gpus: 1.5 }),        /num_gpus is 1.5, not a whole number above 0$/,            'one and a half GPUs'],
  [mlEnergy,     task(),                                           /^f: no configurations$/,                                  'no rows'],
])('%# is refused: the place and the matter are named', async (importer, content, message) => {
  const error: unknown = await rowsOf(importer, [fileOf('f', content)]).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(PerwattError);
  expect(error).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringMatching(message) });
});

describe('what is doubtful is flagged, not dropped', () => {
  test('power that is not joules times rate', async () => {
    const rows = await rowsOf(mlEnergy, [fileOf('f', task({ ...configuration, avg_power_watts: 410 }))]);
    expect(rows.every(({ flags }) => flags === 'inconsistent')).toBe(true);
  });

  test('more power than the devices can draw', async () => {
    const hot = {
      ...configuration,
      avg_power_watts: 800,
      energy_per_token_joules: 4,
      energy_per_request_joules: 400,
    };
    const two = { ...hot, num_gpus: 2 };
    const rows = ofMetric(await rowsOf(mlEnergy, [fileOf('f', task(hot, two))]), 'power_w');
    expect(rows.map(({ flags }) => flags)).toEqual(['over_power_limit', null]);
  });

  // biome-ignore format: a table is read in columns
  test.each([
    ['power-cap',     powerCap,     caps('400,0,70,399,', '400,0,71,399,', '400,0,70,399,')],
    ['ai-benchmarks', aiBenchmarks, systems('m,s,GPU,1,2,0,u', 'm,s,GPU,1,3,0,u', 'm,s,GPU,1,2,0,u')],
  ])('a line that stands twice in a file of %s', async (_, importer, content) => {
    const rows = ofMetric(await rowsOf(importer, [fileOf('f', content)]), 'power_w');
    expect(rows.map(({ flags }) => flags)).toEqual([null, null, 'repeated_key']);
  });

  test('a draw beyond the cap', async () => {
    const rows = ofMetric(await rowsOf(powerCap, [fileOf('f', caps('400,0,70,430,'))]), 'power_w');
    expect(rows.map(({ flags }) => flags)).toEqual(['over_power_cap']);
  });
});

test('lines and characters may be cut anywhere, line ends and a byte order mark be those of Windows', async () => {
  const content = `\u{FEFF}${systems('Modèle,"Pi, 16 GB",GPU,2.5,10,1,u').replaceAll('\n', '\r\n')}`;
  const whole = await rowsOf(aiBenchmarks, [fileOf('f', content)]);
  expect(await rowsOf(aiBenchmarks, [fileOf('f', content, 1)])).toEqual(whole);
  expect(whole[0]).toMatchObject({ model: 'Modèle', accelerator: 'Pi, 16 GB', value: 2.5 });
  expect(JSON.parse(whole[0]!.setting)).toEqual({ compute: 'GPU', llama_cpp_vulkan: true });
});

test('a file nobody knows has no version or date, unless the user gives one', async () => {
  const file = fileOf('f', caps('400,0,70,400,'));
  expect((await rowsOf(powerCap, [file]))[0]).toMatchObject({ source_version: null, date: null });
  expect((await rowsOf(powerCap, [file], { sourceVersion: 'abc' }))[0]).toMatchObject({
    source_version: 'abc',
  });
  const card = await rowsOf(ecocompute, [fileOf('f', formats('Qwen2-7B,FP16,16,1,1,1,1,1000,1,0,10'))], {
    accelerator: 'RTX 3090',
  });
  expect(card[0]).toMatchObject({ accelerator: 'RTX 3090', n: 10, flags: null });
});

test('a reading that fails is told as itself', async () => {
  const file = {
    ...fileOf('f', ''),
    // biome-ignore lint/correctness/useYield: it fails before the first chunk
    async *chunks(): AsyncGenerator<Uint8Array> {
      throw Object.assign(new Error('EIO: read'), { code: 'EIO' });
    },
  };
  await expect(rowsOf(aiBenchmarks, [file])).rejects.toMatchObject({ code: 'EIO' });
});

test('an unknown kind is answered with the nearest', () => {
  expect(importers.map(({ kind }) => kind)).toEqual([
    'ml-energy',
    'ai-benchmarks',
    'ecocompute',
    'power-cap',
    'ipw',
  ]);
  expect(() => importerByKind('ml-enrgy')).toThrowError(
    expect.objectContaining({ code: 'USAGE', message: 'no importer "ml-enrgy"; did you mean "ml-energy"?' }),
  );
});
