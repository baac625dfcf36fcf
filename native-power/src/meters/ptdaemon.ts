import { type Instant, instant, messageOf, PerwattError, type Recorder } from '@perwatt/core';
import { type FeedDomain, type FeedRecorder, feedRecorder } from '../feed-recorder.js';
import { backoffMs, rest } from './backoff.js';
import { type MeterOptions, type MeterSource, type MeterWorld, meterDomain, refuse } from './meter.js';
import { type PtdConnection, ptdConnect, readRanges, sampleReader } from './ptd-connection.js';
import { type PtdSample, type StampBounds, stampBounds } from './ptd-protocol.js';

/** A power analyser behind SPEC's PTDaemon, as MLPerf uses it. */
export interface PtdaemonOptions extends MeterOptions {
  readonly host: string;
  /** Default 8888. */
  readonly port?: number;
  /** Channels of a multi-channel analyser, shown beside the whole. Default 0. */
  readonly channels?: number;
  /** Range to fix while measuring, volts or amperes; the meter's own are restored at the end. Default: left as they are. */
  readonly volts?: number | 'Auto';
  readonly amps?: number | 'Auto';
  /** Name of the measurement in the daemon's log. */
  readonly mark?: string;
  /** Time between the meter's samples, ms; default 1000. */
  readonly interval_ms?: number;
}

interface Session {
  readonly options: PtdaemonOptions;
  readonly signal: AbortSignal;
  /** Ranges the meter had before the first session. */
  ranges: { readonly amps: string; readonly volts: string } | null;
}

const intervalMs = ({ interval_ms = 1000 }: PtdaemonOptions) => interval_ms;
/** A meter on USB can take half a minute to answer for the first time. */
const timeoutMs = ({ timeout_ms = 30_000 }: PtdaemonOptions) => timeout_ms;

/** Longest a daemon may take over its last commands, ms. */
const farewell_ms = 5000;

/** Asks are spread over the meter's interval, so that the times of its samples are bracketed ever closer. */
const askEvery = 0.77;

/**
 * The meter's domains: the whole, then its channels, which are shown and never summed. A sample is a mean over the
 * meter's interval, and its time is known to within another: the update period holds both.
 */
function domainsOf(options: PtdaemonOptions): FeedDomain[] {
  const interval_ms = intervalMs(options);
  const declared = { ...options, update_ms: Math.max(2 * interval_ms, options.update_ms ?? 0) };
  const note = `PTDaemon at ${options.host}:${options.port ?? 8888}, one sample each ${interval_ms} ms`;
  const whole = meterDomain(declared, { kind: 'gauge', note });
  const channels = Array.from({ length: options.channels ?? 0 }, (_, i) =>
    meterDomain(declared, { kind: 'gauge', note, id: `${options.id}:ch${i + 1}`, in_total: false }),
  );
  return [whole, ...channels];
}

async function open(session: Session): Promise<PtdConnection> {
  const { options, signal } = session;
  const address = { host: options.host, port: options.port ?? 8888 };
  const ptd = await ptdConnect(address, { signal, timeout_ms: timeoutMs(options) });
  try {
    await ptd.ask('Identify');
    session.ranges ??= await readRanges(ptd);
    await ptd.ask('Stop');
    await setRange(ptd, 'V', options.volts);
    await setRange(ptd, 'A', options.amps);
    const began = await ptd.ask(`Go,${intervalMs(options)},0,${options.mark ?? 'perwatt'}`);
    if (!/^starting/i.test(began.trim()))
      throw new PerwattError('POWER_IO', `PTDaemon: ${began.slice(0, 120)}`);
    return ptd;
  } catch (error) {
    ptd.close();
    throw error;
  }
}

async function setRange(ptd: PtdConnection, which: 'V' | 'A', range: number | string | undefined) {
  if (range === undefined) return;
  const answer = await ptd.ask(`SR,${which},${range}`);
  if (/^range/i.test(answer.trim())) return;
  throw new PerwattError('POWER_IO', `PTDaemon: range ${which} ${range}: ${answer.slice(0, 120)}`);
}

/** Ends the measurement and gives the meter the ranges it had. What fails is left as it is. */
async function close(ptd: PtdConnection, { options, ranges }: Session): Promise<void> {
  try {
    await ptd.ask('Stop');
    if (options.volts !== undefined && ranges !== null) await setRange(ptd, 'V', ranges.volts);
    if (options.amps !== undefined && ranges !== null) await setRange(ptd, 'A', ranges.amps);
  } catch (error) {
    if (!(error instanceof PerwattError)) throw error;
  } finally {
    ptd.close();
  }
}

/** A source that reads a PTDaemon. */
export function ptdaemonMeter(options: PtdaemonOptions, { clock }: MeterWorld): MeterSource {
  const interval_ns = intervalMs(options) * 1e6;
  const domains = domainsOf(options);
  return {
    name: options.id,
    provenance: 'external',
    default_period_ns: interval_ns,
    start({ period_ns = interval_ns } = {}): Recorder {
      const stopping = new AbortController();
      const recorder = feedRecorder({
        source: options.id,
        domains,
        period_ns,
        clock,
        onStop: () => stopping.abort(),
      });
      const bounds = stampBounds(BigInt(Math.round(interval_ns)));
      void converse({ options, recorder, bounds, stopping: stopping.signal, now: () => clock.now() });
      return recorder;
    },
    async check(signal = new AbortController().signal) {
      const session: Session = { options, signal, ranges: null };
      try {
        const ptd = await open(session);
        await close(ptd, session);
      } catch (error) {
        refuse(options.id, messageOf(error), error);
      }
    },
  };
}

interface Conversation {
  readonly options: PtdaemonOptions;
  readonly recorder: FeedRecorder;
  readonly bounds: StampBounds;
  readonly stopping: AbortSignal;
  readonly now: () => Instant;
}

/** Talks to the daemon until the recorder stops, and again after every failure. */
async function converse(talk: Conversation): Promise<void> {
  const { options, recorder, stopping, now } = talk;
  const cut = new AbortController();
  const session: Session = { options, signal: cut.signal, ranges: null };
  stopping.addEventListener('abort', () => void setTimeout(() => cut.abort(), farewell_ms).unref());
  let failures = 0;
  while (!stopping.aborted) {
    let ptd: PtdConnection | null = null;
    try {
      ptd = await open(session);
      failures = 0;
      await follow(talk, ptd);
      await close(ptd, session);
      return;
    } catch (error) {
      ptd?.close();
      const at = now();
      const missing = messageOf(error);
      recorder.push({ before: at, after: at, values: recorder.domains.map(() => ({ missing })) });
      failures += 1;
      await rest(backoffMs(failures, intervalMs(options)), stopping);
    }
  }
}

/** Reads samples as they come, until the recorder stops. */
async function follow({ options, recorder, bounds, stopping, now }: Conversation, ptd: PtdConnection) {
  const interval_ms = intervalMs(options);
  const read = sampleReader(ptd, options.channels ?? 0);
  const interval_ns = BigInt(Math.round(interval_ms * 1e6));
  let newest: bigint | null = null;
  while (!stopping.aborted) {
    await rest(interval_ms * askEvery, stopping);
    const asked = now();
    const samples = await read();
    const answered = now();
    for (const { meter_ns } of samples) bounds.arrived(meter_ns, answered);
    newest = samples.at(-1)?.meter_ns ?? newest;
    if (newest !== null) bounds.lacked(newest + interval_ns, asked);
    for (const sample of samples) recorder.push(placed(sample, bounds));
  }
}

/** A sample on our clock: its stamp is as wide as what is known of it. */
function placed({ meter_ns, watts }: PtdSample, bounds: StampBounds) {
  const { from, to } = bounds.place(meter_ns);
  return { before: instant(from), after: instant(to), values: watts };
}
