export { type RemoteEngineOptions, startRemoteEngine } from './agent/agent-engine.js';
export {
  type AgentOptions,
  type AgentRecorder,
  type OpenedAgent,
  openAgent,
  type RemoteSource,
} from './agent/agent-source.js';
export { type ServeAgentOptions, type ServedAgent, serveAgent } from './agent/serve-agent.js';
export { bootId, clock, nowNs, suspendedNs } from './clock.js';
export { type CpuTimes, cpuTimes } from './cpu-times.js';
export {
  type FeedDomain,
  type FeedOptions,
  type FeedReading,
  type FeedRecorder,
  type FeedValue,
  feedRecorder,
} from './feed-recorder.js';
export { type HostFacts, hostFacts } from './host-facts.js';
export {
  type MeasuredDomain,
  type MeasuredEnergy,
  type Measurement,
  type MeasureOptions,
  measure,
} from './measure.js';
export { type DcmiOptions, dcmiMeter } from './meters/dcmi.js';
export { type HttpJsonOptions, httpJsonMeter } from './meters/http-json.js';
export type { MeterOptions, MeterSource, MeterWorld } from './meters/meter.js';
export { type PrometheusOptions, prometheusMeter, prometheusReading } from './meters/prometheus.js';
export { type PtdaemonOptions, ptdaemonMeter } from './meters/ptdaemon.js';
export { type MeterUnit, meterUnits } from './meters/quantity.js';
export { type TailOptions, tailMeter } from './meters/tail.js';
export { probeDevices, probePower } from './probe.js';
export {
  type CounterBooking,
  type CounterTrace,
  type GaugeBooking,
  type GaugeTrace,
  ioreportChannel,
  replayCounter,
  replayGauge,
  replayRefusal,
  replaySource,
  type ScriptedMoment,
  type SourceBooking,
} from './replay.js';
export { type RecordedSamples, type ReplayedOptions, replayedSource } from './replay-samples.js';
export type { SensorModel } from './simulated/sensor.js';
export {
  type PowerSignal,
  type SimulatedDevice,
  type SimulatedSourceOptions,
  simulatedSource,
} from './simulated/simulated-source.js';
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
