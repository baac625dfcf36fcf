import {
  blindEvents,
  type Domain,
  messageOf,
  PerwattError,
  type PowerSource,
  type Probe,
  type Recorder,
  sampleEvents,
} from '@perwatt/core';
import { type BestSourceOptions, bestSources, powerSources, probePower } from '@perwatt/native-power';
import { type ExplainedFlag, explainedFlags } from './flag-lines.js';
import type { Io } from './io.js';
import { powerPlace } from './power-place.js';

/** One domain of a source that was tried: what it covers, and whether it gave a number. */
export interface TriedDomain extends Domain {
  /** Null when it was read; else why not. */
  readonly problem: string | null;
}

/** What came of trying one power source. */
export interface SourceTrial {
  readonly name: string;
  /** `used` without being asked for; `usable` when it is named; `unusable`. */
  readonly verdict: 'used' | 'usable' | 'unusable';
  /** What was found, or why it isn't usable: one line. */
  readonly detail: string;
  /** The exact command or step that would enable it; null when it is usable or nothing would. */
  readonly fix: string | null;
  /** Empty for a source that can't be used. */
  readonly domains: readonly TriedDomain[];
  readonly flags: readonly ExplainedFlag[];
}

/** Where sources are looked for. */
export interface TrialWorld {
  readonly probes: readonly Probe[];
  readonly sources: readonly PowerSource[];
  /** Names of those that are used without being asked for. */
  readonly used: readonly string[];
}

/** This host's sources. */
export function trialWorld(io: Io): TrialWorld {
  const place = powerPlace(io);
  return { probes: probePower(place), sources: powerSources(place), used: namesOfBest(place) };
}

function namesOfBest(place: BestSourceOptions): string[] {
  try {
    return bestSources(place).map(({ name }) => name);
  } catch (error) {
    if (error instanceof PerwattError && error.code === 'POWER_NO_SOURCE') return [];
    throw error;
  }
}

/** Reads every source that can be opened, once, and says of each whether it can be used. */
export const tryPowerSources = ({ probes, sources, used }: TrialWorld): SourceTrial[] =>
  probes.map((probe) => {
    const source = sources.find(({ name }) => name === probe.name);
    if (!probe.usable || source === undefined) return unusable(probe, probe.detail);
    return read(probe, source, used.includes(probe.name) ? 'used' : 'usable');
  });

const unusable = ({ name, fix }: Probe, detail: string): SourceTrial => ({
  name,
  verdict: 'unusable',
  detail,
  fix,
  domains: [],
  flags: [],
});

function read(probe: Probe, source: PowerSource, verdict: 'used' | 'usable'): SourceTrial {
  let recorder: Recorder;
  try {
    recorder = source.start();
  } catch (error) {
    return unusable(probe, `${probe.detail}, but it can't be started: ${messageOf(error)}`);
  }
  try {
    recorder.mark();
    recorder.stop();
    const domains = problems(recorder);
    const { name, detail, fix } = probe;
    return { name, verdict, detail, fix, domains, flags: explainedFlags(recorder.status()) };
  } finally {
    recorder.stop();
  }
}

/** The domains, each with what became of its readings. */
function problems(recorder: Recorder): TriedDomain[] {
  const { domain, event } = recorder.drain();
  const { missing_reason } = recorder.status();
  return recorder.domains.map((own, d) => {
    const events = [...domain.entries()].flatMap(([i, index]) =>
      index === d ? (sampleEvents[event[i] ?? -1] ?? []) : [],
    );
    const seen = events.some((name) => !blindEvents.has(name));
    return { ...own, problem: seen ? null : (missing_reason ?? events.at(-1) ?? 'nothing was read') };
  });
}
