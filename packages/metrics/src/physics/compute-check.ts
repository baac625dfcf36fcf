import type { CatalogueAccelerator, NumberType } from '../catalogue/catalogue-schema.js';
import { decodeFlop, prefillFlop } from '../flops/flop-count.js';
import { brief, judged, notChecked, type PhysicsFinding } from './finding.js';
import type { PhysicsSetup } from './physics-setup.js';

/** Types by width: none of a class is faster than the fastest of the next. */
const classes: readonly (readonly NumberType[])[] = [
  ['fp4'],
  ['fp8', 'int8'],
  ['bf16', 'fp16'],
  ['tf32'],
  ['fp32'],
];

interface Peak {
  readonly flop_per_s: number;
  readonly type: string;
}

/**
 * The fastest dense rate that the engine may reach on one device, or why that can't be told. Among the types it may
 * compute in, the narrowest the hardware has must be listed: it is the fastest, so wider ones may be unknown.
 */
export function fastestPeak(accelerator: CatalogueAccelerator, types?: readonly NumberType[]): Peak | string {
  const may = (type: NumberType) =>
    (types === undefined || types.includes(type)) && !accelerator.unsupported_types.includes(type);
  const narrowest = classes.map((list) => list.filter(may)).find((list) => list.length > 0);
  if (narrowest === undefined) return 'no type to compute in';
  const unknown = narrowest.find((type) => accelerator.peak_flop_per_s[type] === null);
  if (unknown !== undefined) return `peak_flop_per_s.${unknown} unknown`;
  const rates = classes
    .flat()
    .filter(may)
    .flatMap((type) => ratesOf(accelerator, type));
  return rates.reduce((best, rate) => (rate.flop_per_s > best.flop_per_s ? rate : best));
}

function ratesOf(accelerator: CatalogueAccelerator, type: NumberType): Peak[] {
  const plain = accelerator.peak_flop_per_s[type];
  const quick =
    type === 'fp16' || type === 'fp8' ? (accelerator.peak_fp16_accumulate_flop_per_s?.[type] ?? null) : null;
  return [
    ...(plain === null ? [] : [{ flop_per_s: plain, type }]),
    ...(quick === null ? [] : [{ flop_per_s: quick, type: `${type} with fp16 accumulate` }]),
  ];
}

function peakOf(setup: PhysicsSetup): Peak | string {
  if (setup.model === null) return 'model unknown';
  if (setup.model.shape === null) return 'shape unknown';
  const given = setup.peak_flop_per_s ?? null;
  if (given !== null) return { flop_per_s: given, type: 'as given' };
  if (setup.accelerator === null) return 'accelerator unknown';
  return fastestPeak(setup.accelerator, setup.compute_types);
}

/** Decode rate against compute: each token costs at least the FLOP of a step at the shortest context. */
export function checkCompute(claim: number, setup: PhysicsSetup): PhysicsFinding {
  const peak = peakOf(setup);
  if (typeof peak === 'string') return notChecked('compute', claim, peak);
  const flop = decodeFlop(setup.model?.shape ?? null, Math.max(1, setup.shortest_context ?? 1));
  if (flop === null) return notChecked('compute', claim, 'shortest_context is no count');
  const devices = setup.devices ?? 1;
  const bound = (peak.flop_per_s * devices) / flop;
  return judged('compute', {
    claim,
    bound,
    inputs: { peak_flop_per_s: peak.flop_per_s, type: peak.type, devices, flop_per_token: flop },
    arithmetic: `${brief(peak.flop_per_s * devices)} FLOP/s (${peak.type}) / ${brief(flop)} FLOP = ${brief(bound)} tokens/s at most`,
  });
}

/** Time to the first token against compute: the prompt's FLOP, less what was cached, over the peak. */
export function checkPrefill(claim: number, setup: PhysicsSetup): PhysicsFinding {
  if (setup.prefill === undefined) return notChecked('prefill', claim, 'prefill tokens unknown');
  if (setup.prefill.cached === undefined) return notChecked('prefill', claim, 'cached tokens unknown');
  const peak = peakOf(setup);
  if (typeof peak === 'string') return notChecked('prefill', claim, peak);
  const flop = prefillFlop(setup.model?.shape ?? null, setup.prefill);
  if (flop === null) return notChecked('prefill', claim, 'prefill tokens are no counts');
  const devices = setup.devices ?? 1;
  const bound = flop / (peak.flop_per_s * devices);
  return judged('prefill', {
    claim,
    bound,
    inputs: { peak_flop_per_s: peak.flop_per_s, type: peak.type, devices, prefill_flop: flop },
    arithmetic: `${brief(flop)} FLOP / ${brief(peak.flop_per_s * devices)} FLOP/s (${peak.type}) = ${brief(bound)} s at least`,
  });
}
