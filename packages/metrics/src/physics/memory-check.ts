import { kvBytes, kvElementBytes } from '../flops/kv-bytes.js';
import { decodeReadBytes } from '../flops/weight-bytes.js';
import { brief, judged, notChecked, type PhysicsFinding } from './finding.js';
import type { PhysicsSetup } from './physics-setup.js';

/** Largest on-chip memory assumed of a device whose own is not listed, bytes. */
const ASSUMED_CACHE_BYTES = 512 * 2 ** 20;

/** Weights smaller than this many on-chip memories may stay there, where bandwidth doesn't bind them. */
const CACHE_FACTOR = 4;

interface Traffic {
  readonly weights_bytes: number;
  readonly kv_bytes: number;
}

/** Bytes that one pass reads at the least: each needed weight once, each sequence's own cache once. */
function leastTraffic(setup: PhysicsSetup): Traffic | string {
  const { model, weights, batch = 1 } = setup;
  if (model === null) return 'model unknown';
  if (model.shape === null) return 'shape unknown';
  if (weights === undefined || weights === null) return 'weights unknown';
  const read = decodeReadBytes(model.shape, weights);
  if (read === null) return 'weights unknown';
  const shared = Math.min(setup.shared_context ?? 0, setup.shortest_context ?? 0);
  const type = setup.kv_type ?? smallestCache;
  const whole = kvBytes(model.shape, setup.shortest_context ?? 0, type) ?? 0;
  const common = kvBytes(model.shape, shared, type) ?? 0;
  return { weights_bytes: read, kv_bytes: common + batch * (whole - common) };
}

/** The cache type that reads least, for caches of unknown type. */
const smallestCache = (Object.keys(kvElementBytes) as (keyof typeof kvElementBytes)[]).reduce(
  (least, type) => (kvElementBytes[type] < kvElementBytes[least] ? type : least),
);

/** Decode rate against memory traffic: passes a second are at most bandwidth over the bytes that one pass must read. */
export function checkMemory(claim: number, setup: PhysicsSetup): PhysicsFinding {
  const bandwidth = setup.accelerator?.memory_bandwidth_bytes_per_s ?? null;
  if (setup.accelerator === null) return notChecked('bandwidth', claim, 'accelerator unknown');
  if (bandwidth === null) return notChecked('bandwidth', claim, 'memory_bandwidth_bytes_per_s unknown');
  const traffic = leastTraffic(setup);
  if (typeof traffic === 'string') return notChecked('bandwidth', claim, traffic);
  const { weights_bytes, kv_bytes } = traffic;
  const { batch = 1, accepted_per_pass: accepted = 1, devices = 1 } = setup;
  const known = setup.accelerator.last_level_cache_bytes;
  const cache = (known ?? ASSUMED_CACHE_BYTES) * devices;
  if (weights_bytes < CACHE_FACTOR * cache)
    return notChecked(
      'bandwidth',
      claim,
      `${brief(weights_bytes)} bytes of weights may stay in on-chip memory${known === null ? ' of unknown size' : ''}`,
    );
  const together = setup.parallel === 'pipeline' ? Math.min(devices, batch) : devices;
  const bound = (batch * accepted * bandwidth * together) / (weights_bytes + kv_bytes);
  return judged('bandwidth', {
    claim,
    bound,
    inputs: {
      memory_bandwidth_bytes_per_s: bandwidth,
      devices: together,
      weights_bytes,
      kv_bytes,
      batch,
      accepted_per_pass: accepted,
    },
    arithmetic:
      `${brief(batch)} sequences × ${brief(accepted)} × ${brief(bandwidth * together)} B/s ` +
      `/ (${brief(weights_bytes)} B weights + ${brief(kv_bytes)} B cache) = ${brief(bound)} tokens/s at most; ` +
      `the claim needs ${brief(((claim / batch / accepted) * (weights_bytes + kv_bytes)) / 1e9)} GB/s`,
  });
}
