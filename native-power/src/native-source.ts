import {
  type Domain,
  instant,
  isErrorCode,
  PerwattError,
  type PowerSource,
  type Recorder,
} from '@perwatt/core';
import type { Binding } from './binding.js';
import type { SourceOptions } from './sources.js';

type SourceInfo = ReturnType<Binding['sourceInfos']>[number];
type DomainInfo = InstanceType<Binding['Recorder']>['domains'][number];

/** A source of the addon, on the tree under `root` or behind a vendor's library. */
export function nativeSource(
  binding: Binding,
  info: SourceInfo,
  place: Required<SourceOptions>,
): PowerSource {
  return {
    name: info.name,
    provenance: info.provenance,
    default_period_ns: info.default_period_ns,
    start({ period_ns = info.default_period_ns } = {}): Recorder {
      const native = guard(() => binding.Recorder.start({ source: info.name, ...place, period_ns }));
      const infos = native.domains;
      return {
        source: info.name,
        domains: infos.map((domain) => toDomain(domain, info.name)),
        raw_units: infos.map((domain) => domain.raw_unit),
        period_ns,
        channels: native.channels,
        drain: () => native.drain(),
        drainChannels: () => native.drainChannels(),
        mark: () => instant(native.mark()),
        status: () => native.status(),
        stop: () => native.stop(),
      };
    },
  };
}

const toDomain = ({ raw_unit: _, ...domain }: DomainInfo, source: string): Domain => ({ ...domain, source });

/** Runs a native call and turns what it throws into a `PerwattError`. An unknown code is a bug and passes through. */
export function guard<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof Error && 'code' in error && isErrorCode(error.code)) {
      throw new PerwattError(error.code, error.message, { cause: error });
    }
    throw error;
  }
}
