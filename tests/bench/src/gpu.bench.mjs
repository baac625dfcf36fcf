// Kernels on a real GPU, in about six minutes: right, as fast as PyTorch and as the device's own copy, metered as NVML says. It reads
// clocks and power and changes neither. Each part that can't run says why.
import { checkSpecs, ensureAddon, kernelProgram, listDevices, runKernels } from '@perwatt/kernels';
import { watchPower } from './gpu/smi.mjs';
import { torchRates, wheelFolders } from './gpu/torch.mjs';

const LEAST_RATIO = 0.95;
/** Our energy over nvidia-smi's power in the same windows: off from 1 by this at most. */
const POWER_TOLERANCE = 0.1;
const BUDGET_MS = 6 * 60_000;
const TORCH_MS = 60_000;
const DEADLINE_MS = 120_000;
const VENDORS = ['cuda', 'hip'];
const PRODUCTS = { cuda: 'cuda/cublaslt', hip: 'hip/rocblas' };
const WINDOW_MS = 5000;
/** Of a window's readings, the first ones are left out, for nvidia-smi may tell averages of a second, and those after its end. */
const SETTLE_MS = 1000;
const LATE_MS = 250;
/** Metering one kernel takes this at most: an idle window, two of launches, and the time to cool down between them. */
const METERING_MS = 90_000;

const gemm = { kind: 'gemm', dtype: 'bf16', m: 8192, n: 8192, k: 8192 };
/** The one product that nothing but the vendor's library has, so that only that is metered. */
const metered = { ...gemm, dtype: 'tf32' };
const copy = { kind: 'copy', dtype: 'f32', n: 2 ** 28 };
const triad = { kind: 'triad', dtype: 'f32', n: 2 ** 28 };

const figure = (value, digits = 3) => value.toFixed(digits);
const rate = ({ bytes, time }) => `${figure(bytes / time.median_ns / 1e3, 2)} TB/s`;
const skipped = (part, reason) => ({ part, status: 'skipped', lines: [`${part}: skipped: ${reason}`] });
const judged = (part, passed, lines, data) => ({ part, status: passed ? 'passed' : 'failed', lines, data });

/** Environment of the processes that drive devices: with the wheels of the Python that PyTorch is asked of. */
function environment() {
  const folders = process.env.PERWATT_CUDA_LIB_DIR ?? wheelFolders();
  return folders === '' ? process.env : { ...process.env, PERWATT_CUDA_LIB_DIR: folders };
}

/** Runs kernels on a device; what came of each implementation, and when each phase of it began. */
async function ran({ device, specs, world, check_only = false, energy = null }) {
  const outcomes = [];
  const phases = [];
  await runKernels(
    {
      device: device.id,
      specs,
      check_only,
      timing: { most_ns: 2e9, deviation_ratio: 0.005 },
      energy,
      power: { root: '/', libraries: {} },
      threads: null,
    },
    {
      ...world,
      deadline_ms: DEADLINE_MS,
      onOutcome: (spec, outcome) => {
        outcomes.push({ spec, outcome });
        phases.push({ phase: 'over', implementation: outcome.implementation, at: performance.now() });
      },
      onProgress: ({ phase, implementation }) =>
        phases.push({ phase, implementation, at: performance.now() }),
    },
  );
  return { outcomes, phases };
}

const timedBy = (outcomes, prefix) =>
  outcomes.find(
    ({ outcome }) =>
      outcome.implementation.startsWith(prefix) && outcome.status === 'ok' && outcome.time !== null,
  )?.outcome;

const faults = (outcomes) =>
  outcomes
    .filter(({ outcome: { status } }) => status !== 'ok' && status !== 'unsupported')
    .map(({ spec, outcome: { implementation, status, reason } }) => ({
      kernel: `${spec.kind} ${spec.dtype}`,
      implementation,
      status,
      reason,
    }));

async function selftest({ devices, world }) {
  const specs = checkSpecs({}, Date.now() % 2 ** 31);
  const lines = [];
  let wrong = 0;
  for (const device of devices) {
    const { outcomes } = await ran({ device, specs, world, check_only: true });
    const bad = faults(outcomes);
    const right = outcomes.filter(({ outcome: { status } }) => status === 'ok').length;
    wrong += bad.length + (right === 0 ? 1 : 0);
    lines.push(`selftest: ${device.id}: ${right} right, ${bad.length} not, seed ${specs[0].seed}`);
    for (const { kernel, implementation, status, reason } of bad)
      lines.push(`  ${kernel} by ${implementation}: ${status}: ${reason}`);
  }
  return judged('selftest', wrong === 0, lines);
}

/** The vendor's product beside PyTorch's, ours before and after it. */
async function product({ device, world, torch }) {
  if (torch.reason !== undefined) return skipped('product', torch.reason);
  const prefix = PRODUCTS[device.backend];
  const before = timedBy((await ran({ device, specs: [gemm], world })).outcomes, prefix);
  const theirs = torchRates({ timeout_ms: TORCH_MS });
  const { outcomes } = await ran({ device, specs: [gemm], world });
  const after = timedBy(outcomes, prefix);
  if (before === undefined || after === undefined)
    return judged('product', false, [`product: ${prefix} did not run: ${JSON.stringify(faults(outcomes))}`]);
  if (theirs.reason !== undefined) return skipped('product', theirs.reason);
  const ours_ns = (before.time.median_ns + after.time.median_ns) / 2;
  const theirs_ns = (torch.figures.gemm_ns + theirs.figures.gemm_ns) / 2;
  const ratio = theirs_ns / ours_ns;
  const tflops = (ns) => `${figure(before.flop / ns / 1e3, 0)} TFLOP/s`;
  return judged(
    'product',
    ratio >= LEAST_RATIO,
    [
      `product: bf16 8192³: ${tflops(ours_ns)} by ${after.implementation}, ${tflops(theirs_ns)} by PyTorch ${theirs.figures.torch}: ` +
        `${figure(ratio)} of it (at least ${LEAST_RATIO})`,
    ],
    { ours_ns: [before.time.median_ns, after.time.median_ns], torch: [torch.figures, theirs.figures] },
  );
}

async function copies({ device, world, torch }) {
  const { outcomes } = await ran({ device, specs: [copy], world });
  const [driver, own] = ['memcpy', 'own-stream'].map((name) =>
    timedBy(outcomes, `${device.backend}/${name}`),
  );
  if (driver === undefined || own === undefined)
    return judged('copy', false, [`copy: not run: ${JSON.stringify(faults(outcomes))}`]);
  const theirs = torch.figures?.copy_ns ?? Number.POSITIVE_INFINITY;
  const device_ns = Math.min(driver.time.median_ns, theirs);
  const ratio = device_ns / own.time.median_ns;
  const by = torch.reason === undefined ? `, PyTorch ${figure(own.bytes / theirs / 1e3, 2)} TB/s` : '';
  return judged(
    'copy',
    ratio >= LEAST_RATIO,
    [
      `copy: 1 GiB: own kernel ${rate(own)}, the driver ${rate(driver)}${by}: ${figure(ratio)} of the fastest (at least ${LEAST_RATIO})`,
    ],
    {
      own_ns: own.time.median_ns,
      driver_ns: driver.time.median_ns,
      torch_ns: torch.figures?.copy_ns ?? null,
    },
  );
}

/** Two ways to the same GPU: told, not judged. */
async function triads({ device, portable, world }) {
  if (portable === undefined)
    return skipped('triad', `wgpu reaches no GPU with the id ${device.hardware_id}`);
  const [native, shader] = [
    timedBy((await ran({ device, specs: [triad], world })).outcomes, `${device.backend}/`),
    timedBy((await ran({ device: portable, specs: [triad], world })).outcomes, 'wgpu/'),
  ];
  if (native === undefined || shader === undefined)
    return judged('triad', false, [
      `triad: ${native === undefined ? device.id : portable.id} did not run it`,
    ]);
  const ratio = native.time.median_ns / shader.time.median_ns;
  return judged(
    'triad',
    true,
    [
      `triad: 3 × 1 GiB: ${device.backend} ${rate(native)}, wgpu ${rate(shader)}: ${figure(ratio)} of it (told, not judged)`,
    ],
    { native_ns: native.time.median_ns, wgpu_ns: shader.time.median_ns },
  );
}

/** Mean power that nvidia-smi told in windows, W; null without a reading. A window is at the end of its phase, after cooling down. */
function smiPower(watch, phases) {
  const spans = phases.flatMap(({ phase, at }, i) => {
    const end = phases[i + 1]?.at ?? at;
    const span = { from: end - WINDOW_MS + SETTLE_MS, to: end - LATE_MS };
    return phase === 'energy' && span.from >= at ? [span] : [];
  });
  const means = spans.flatMap(({ from, to }) => watch.meanBetween(from, to) ?? []);
  return means.length === 0 ? null : means.reduce((sum, mean) => sum + mean, 0) / means.length;
}

async function energies({ device, world, end_ms }) {
  if (device.backend !== 'cuda') return skipped('energy', `nvidia-smi knows no ${device.backend} device`);
  const watch = watchPower(device.hardware_id);
  if (watch.reason !== undefined) return skipped('energy', watch.reason);
  const results = [];
  try {
    for (const spec of [metered, triad]) {
      if (performance.now() + METERING_MS > end_ms) {
        results.push({
          passed: true,
          line: `energy: ${spec.kind} ${spec.dtype}: skipped: too little time is left`,
        });
        continue;
      }
      const energy = { windows: 2, least_ns: WINDOW_MS * 1e6 };
      const { outcomes, phases } = await ran({ device, specs: [spec], world, energy });
      const prefix = spec === metered ? PRODUCTS.cuda : 'cuda/own-stream';
      const outcome = timedBy(outcomes, prefix);
      const own = phases.filter(({ implementation }) => implementation.startsWith(prefix));
      results.push(energyOf({ spec, outcome, smi_w: smiPower(watch, own), field: watch.field }));
    }
  } finally {
    await watch.stop();
  }
  return judged(
    'energy',
    results.every(({ passed }) => passed),
    results.map(({ line }) => line),
    results,
  );
}

function energyOf({ spec, outcome, smi_w, field }) {
  const name = `energy: ${spec.kind} ${spec.dtype}`;
  const energy = outcome?.energy ?? null;
  if (energy === null)
    return { passed: false, line: `${name}: none: ${outcome?.energy_reason ?? 'it did not run'}` };
  const { power_w, gross_j, duty_ratio, windows, domain } = energy;
  if (smi_w === null) return { passed: false, line: `${name}: nvidia-smi told nothing meanwhile` };
  const ratio = power_w / smi_w;
  return {
    passed: Math.abs(ratio - 1) <= POWER_TOLERANCE,
    line:
      `${name}: ${gross_j.toPrecision(4)} J a launch, ${figure(power_w, 1)} W in ${windows} windows of ${domain} (duty ${figure(duty_ratio)}), ` +
      `${figure(smi_w, 1)} W by nvidia-smi's ${field}: ${figure(ratio)} of it (within ${POWER_TOLERANCE} of 1)`,
    power_w,
    smi_w,
    gross_j,
  };
}

/** The parts in turn, until the time is over. */
async function parts(context) {
  const results = [];
  for (const [part, measure] of Object.entries({
    product,
    copy: copies,
    triad: triads,
    selftest,
    energy: energies,
  })) {
    const { signal } = context.world;
    results.push(signal.aborted ? skipped(part, 'the time was over') : await measure(context));
  }
  return results;
}

export async function run() {
  const env = environment();
  await ensureAddon({ env, signal: new AbortController().signal, onProgress: () => {} });
  const signal = AbortSignal.timeout(BUDGET_MS);
  const end_ms = performance.now() + BUDGET_MS;
  const world = { program: kernelProgram(), env, signal };
  const { devices: found, absent } = await listDevices([], { ...world, deadline_ms: DEADLINE_MS });
  const devices = found.map(({ device }) => device);
  const told = absent.map(({ backend, reason }) => `not here: ${backend}: ${reason}`);
  const device = devices.find(({ backend }) => VENDORS.includes(backend));
  if (device === undefined) {
    const every = ['product', 'copy', 'triad', 'selftest', 'energy'];
    const lines = every.flatMap((part) => skipped(part, 'no GPU that CUDA or ROCm drives').lines);
    return { passed: true, lines: [...told, ...lines], data: { device: null, skipped: every } };
  }
  const portable = devices.find(
    ({ backend, hardware_id }) => backend === 'wgpu' && hardware_id === device.hardware_id,
  );
  const torch = torchRates({ timeout_ms: TORCH_MS });
  const tested = [device, ...(portable === undefined ? [] : [portable])];
  const results = await parts({ device, portable, devices: tested, world, torch, end_ms });
  const lines = [
    `${device.id}: ${device.name}, ${device.driver}`,
    ...told,
    ...results.flatMap(({ lines }) => lines),
  ];
  const passed = results.every(({ status }) => status !== 'failed');
  return { passed, lines, data: { device, parts: results } };
}
