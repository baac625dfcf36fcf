import type { ChannelInfo, ClientRequest, PowerSource, Recorder } from '@perwatt/core';
import { type FakeAnswer, fakeClient, steadyPowerSource, testDomain } from '@perwatt/test-kit';
import type { HarnessDeps } from './deps.js';
import { type VirtualTime, virtualTime } from './simulate/virtual-time.js';
import { fakeWorld, rightSum, type WorldOptions } from './world.fixture.js';

export interface VirtualOptions extends WorldOptions {
  /** Power of the one domain, W, by the time of the world. Default ten. */
  readonly watts?: (elapsed_ns: number) => number;
  /** Temperature of the one device, °C; without it there is no such channel. */
  readonly celsius?: (elapsed_ns: number) => number;
  /** How long a call takes, ns; default 10 ms. */
  readonly call_ns?: (request: ClientRequest) => number;
}

export interface VirtualWorld {
  readonly deps: HarnessDeps;
  readonly time: VirtualTime;
}

const asked = ({ input }: ClientRequest): string =>
  input.kind === 'chat' ? (input.messages.at(-1)?.content ?? '') : input.prompt;

/** The world of `fakeWorld` in virtual time: calls, power and temperature are functions of it. */
export function virtualWorld(options: VirtualOptions = {}): VirtualWorld {
  const { answer = rightSum, broken = [], call_ns = () => 10_000_000 } = options;
  const time = virtualTime();
  const deps = fakeWorld(options);
  return {
    time,
    deps: {
      ...deps,
      clock: time.clock,
      timer: time,
      powerSources: () => (options.power === false ? [] : [sourceOf(time, options)]),
      async prepareModel(entry, endpoint) {
        const model = await deps.prepareModel(entry, endpoint);
        if (broken.includes(entry.id)) return model;
        return { ...model, client: () => timedClient(time, { answer, call_ns }) };
      },
    },
  };
}

function timedClient(
  time: VirtualTime,
  {
    answer,
    call_ns,
  }: {
    readonly answer: (prompt: string, model: string) => FakeAnswer;
    readonly call_ns: (request: ClientRequest) => number;
  },
) {
  let length_ns = 0;
  return fakeClient({
    clock: time.clock,
    first_ns: 1,
    wait: (ns) => new Promise((resolve) => (ns > 0 ? time.afterNs(length_ns, resolve) : resolve())),
    answer(request) {
      length_ns = call_ns(request);
      return answer(asked(request), request.model);
    },
  });
}

const period_ns = 5_000_000;

function sourceOf(time: VirtualTime, { watts = () => 10, celsius }: VirtualOptions): PowerSource {
  const source = steadyPowerSource({
    name: 'fake',
    domains: [testDomain({ id: 'fake:0', source: 'fake', update_period_ns: period_ns })],
    clock: time.clock,
    period_ns,
    watts: (_, elapsed_ns) => watts(elapsed_ns),
  });
  if (celsius === undefined) return source;
  return { ...source, start: (asking) => withTemperature(source.start(asking), time, celsius) };
}

function withTemperature(
  recorder: Recorder,
  time: VirtualTime,
  celsius: (elapsed_ns: number) => number,
): Recorder {
  const channels: ChannelInfo[] = [{ device: 'fake', channel: 'gpu_temp_c', unit: '°C' }];
  return {
    ...recorder,
    channels,
    drainChannels: () => ({
      at_ns: BigInt64Array.of(time.clock.now()),
      channel: Uint16Array.of(0),
      value: Float64Array.of(celsius(Number(time.clock.now()))),
      value_valid: Uint8Array.of(1),
      text: [null],
      missing_reason: [null],
    }),
  };
}
