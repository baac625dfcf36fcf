import { askProcess, type KernelProcessOptions } from './kernel-process.js';
import type { KernelSpec } from './kernel-spec.js';
import { type KernelDevice, type KernelEvent, PROTOCOL_VERSION } from './protocol.js';

/** What a device does with a kernel. */
export interface KernelSupport {
  readonly spec: KernelSpec;
  /** Ids of the implementations, best first; empty where there is none. */
  readonly implementations: readonly string[];
  /** Why there is none, else null. */
  readonly reason: string | null;
}

/** A device that was found. */
export interface FoundDevice {
  readonly device: KernelDevice;
  readonly supports: readonly KernelSupport[];
}

/** A backend that reaches no device here. */
export interface AbsentBackend {
  readonly backend: string;
  readonly error_code: string;
  readonly reason: string;
}

/** What there is to run kernels on, and what there isn't. */
export interface KernelDevices {
  readonly devices: readonly FoundDevice[];
  readonly absent: readonly AbsentBackend[];
}

/**
 * Devices of every backend, with what each does with `specs`. A backend whose driver crashes or hangs while it is looked at is
 * absent with that reason, and the others are looked at all the same.
 */
export async function listDevices(
  specs: readonly KernelSpec[],
  options: Omit<KernelProcessOptions, 'onEvent'>,
): Promise<KernelDevices> {
  const found: Looking = { devices: [], absent: [], skip: [], probing: null };
  for (;;) {
    found.probing = null;
    const end = await askProcess(
      { kind: 'list', version: PROTOCOL_VERSION, specs, skip: [...found.skip] },
      { ...options, onEvent: (event) => note(event, specs, found) },
    );
    const { devices, absent, probing, skip } = found;
    if (end.how === 'ended' || end.how === 'interrupted') return { devices, absent };
    const error_code = end.how === 'timed_out' ? 'KERNEL_TIMEOUT' : 'KERNEL_KILLED';
    absent.push({ backend: probing ?? 'all', error_code, reason: end.reason ?? 'its process ended early' });
    if (probing === null || skip.includes(probing)) return { devices, absent };
    skip.push(probing);
  }
}

interface Looking {
  readonly devices: FoundDevice[];
  readonly absent: AbsentBackend[];
  /** Backends that were looked at. */
  readonly skip: string[];
  /** The one that is being looked at. */
  probing: string | null;
}

function note(event: KernelEvent, specs: readonly KernelSpec[], found: Looking): void {
  switch (event.event) {
    case 'probe':
      if (found.probing !== null) found.skip.push(found.probing);
      found.probing = event.backend;
      return;
    case 'device':
      found.devices.push({ device: event.device, supports: supportsOf(event.supports, specs) });
      return;
    case 'unavailable': {
      const { backend, error_code, reason } = event;
      found.absent.push({ backend, error_code, reason });
      return;
    }
    case 'failed':
      found.absent.push({
        backend: found.probing ?? 'all',
        error_code: event.error_code,
        reason: event.reason,
      });
      return;
    default:
  }
}

const supportsOf = (
  told: readonly Omit<KernelSupport, 'spec'>[],
  specs: readonly KernelSpec[],
): KernelSupport[] =>
  specs.flatMap((spec, i) => {
    const own = told[i];
    return own === undefined ? [] : [{ spec, ...own }];
  });
