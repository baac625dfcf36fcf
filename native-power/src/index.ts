export { bootId, clock, nowNs, suspendedNs } from './clock.js';
export { type CpuTimes, cpuTimes } from './cpu-times.js';
export { type HostFacts, hostFacts } from './host-facts.js';
export { probeDevices, probePower } from './probe.js';
export {
  type CounterBooking,
  type CounterTrace,
  type GaugeBooking,
  type GaugeTrace,
  replayCounter,
  replayGauge,
  replayRefusal,
  replaySource,
  type ScriptedMoment,
  type SourceBooking,
} from './replay.js';
export {
  type BestSourceOptions,
  bestSources,
  powerSources,
  type SourceOptions,
  type VendorLibraries,
} from './sources.js';
export {
  type Decoded,
  decodeAmdsmiEnergy,
  decodeNvmlField,
  type GpusBooking,
  type GpuTrace,
  replayGpus,
} from './vendor-replay.js';
