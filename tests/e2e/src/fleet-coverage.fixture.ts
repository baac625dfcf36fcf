/**
 * Two small fleets whose sensors can tell prefill from decode: a quick counter, and a slower one that looks at a quarter of the
 * time. One cell of each is isolated, one allocated.
 */
export const matrices: Readonly<Record<'edge' | 'rack', string>> = {
  edge: `
name: coverage-edge
protocol: quick
repeats: 3
seed: 1
axes:
  model: [small]
  accelerator: [{ id: edge, kind: npu }]
  dataset: [{ id: sums, limit: 40 }, { id: more, kind: sums, limit: 60 }]
  load: [{ concurrency: 1 }, { concurrency: 2 }]
include:
  - { dataset: sums, load: c1 }
  - { dataset: more, load: c2 }
power: { period_ms: 30 }
simulate:
  models:
    small: { active_b: 1, weight_gb: 2, skill: 0.6 }
  accelerators:
    edge: { tflops: 1, gb_per_s: 100, idle_w: 3, prefill_w: 15, decode_w: 10, decode_w_per_sequence: 1 }
  datasets:
    sums: { difficulty: 0.5, difficulty_sd: 1, guess_rate: 0.1, prompt_tokens: 600, output_tokens: 60, tokens_cv: 0.3 }
  sensor: { update_ms: 1, lag_ms: 0.2, quantum: 0.0001 }
  noise: { run_power_cv: 0.04, run_pace_cv: 0.03 }
`,
  rack: `
name: coverage-rack
protocol: quick
repeats: 3
seed: 1
axes:
  model: [large]
  accelerator: [{ id: rack, kind: gpu }]
  dataset: [{ id: sums, limit: 40 }, { id: more, kind: sums, limit: 60 }]
  load: [{ concurrency: 1 }, { concurrency: 2 }]
include:
  - { dataset: sums, load: c1 }
  - { dataset: more, load: c2 }
power: { period_ms: 30 }
simulate:
  models:
    large: { active_b: 8, weight_gb: 8, skill: 1.8 }
  accelerators:
    rack: { tflops: 7, gb_per_s: 400, idle_w: 60, prefill_w: 390, decode_w: 250, decode_w_per_sequence: 20 }
  datasets:
    sums: { difficulty: 0.5, difficulty_sd: 1, guess_rate: 0.1, prompt_tokens: 600, output_tokens: 60, tokens_cv: 0.3 }
  sensor: { update_ms: 5, lag_ms: 1, quantum: 0.001, sensing_share: 0.25 }
  noise: { run_power_cv: 0.04, run_pace_cv: 0.03 }
`,
};
