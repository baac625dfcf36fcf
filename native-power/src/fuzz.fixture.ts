import { createRng, PerwattError } from '@perwatt/core';
import { AGENT_VERSION, parseAgentLine, parseFacts, parsePong, samplesLine } from './agent/agent-protocol.js';
import { relay } from './agent/relay.js';
import { lineSplitter } from './line-splitter.js';
import { fileStampNs, meterStampNs, timeFormats } from './meters/civil-time.js';
import { dcmiReading } from './meters/dcmi.js';
import { jsonReading } from './meters/http-json.js';
import { prometheusReading, queryReading } from './meters/prometheus.js';
import { parseCount, parseRanges, parseSample } from './meters/ptd-protocol.js';
import { quantityOf } from './meters/quantity.js';
import { rowReader } from './meters/row-format.js';

/** Something that reads bytes from outside. May throw `PerwattError`, nothing else. */
export interface FuzzTarget {
  readonly name: string;
  /** Inputs that are right, to be damaged. */
  readonly seeds: readonly string[];
  readonly read: (text: string) => unknown;
}

const columns = {
  at_ns: BigInt64Array.of(1n, 2n),
  read_ns: Float64Array.of(0, 0),
  domain: Uint16Array.of(0, 1),
  raw: BigInt64Array.of(5n, 6n),
  raw_valid: Uint8Array.of(1, 0),
  event: Uint8Array.of(0, 1),
  booked_energy_j: Float64Array.of(0, 2.5),
  booked_lo_j: Float64Array.of(0, 2.5),
  booked_hi_j: Float64Array.of(0, 2.5),
  power_w: Float64Array.of(0, 3),
  power_valid: Uint8Array.of(0, 1),
};

const domain = {
  id: 'd',
  scope: 'gpu',
  kind: 'counter',
  provenance: 'counter',
  in_total: true,
  update_period_ns: 1e6,
  quantum: null,
  scale_error_ratio: 0.01,
  note: 'n',
};

const facts = JSON.stringify({
  agent_version: AGENT_VERSION,
  hostname: 'h',
  boot_id: null,
  facts: { cpu: 'x' },
  sources: [
    {
      name: 's',
      default_period_ns: 1e8,
      domains: [domain],
      channels: [{ device: 'd', channel: 't_c', unit: '°C' }],
      raw_units: ['uJ'],
    },
  ],
});

const csv = rowReader({ format: 'csv', time: 'ts', value: 'w', time_format: 'iso', unit: 'W' });
csv.take('ts,w');
const json = rowReader({ format: 'jsonl', time: '/t', value: 'w', time_format: 'unix_s', unit: 'kWh' });
const prometheus = { id: 'p', url: 'http://p', metric: 'm', labels: { gpu: '0' }, unit: 'mJ' } as const;
const heard = relay([{ max_power_w: 1 }, { max_power_w: 1 }]);
const splitter = lineSplitter(64);

/** Every reader of bytes that come from a meter, a file or an agent. */
export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'ptd sample',
    seeds: ['Time,11-29-2026 23:59:58.500,Watts,300,Volts,-1.0,Amps,-1,PF,-1,Mark,m,Ch1,Watts,200,Volts,1'],
    read: (text) => parseSample(text, 2),
  },
  { name: 'ptd ranges', seeds: ['Ranges,0,5.0,1,300.0'], read: parseRanges },
  { name: 'ptd count', seeds: ['Last 12 samples'], read: parseCount },
  {
    name: 'stamp',
    seeds: ['11-29-2026 23:59:58.500', '1700000000.5', '2026-11-29T23:59:58.5+01:00'],
    read: (text) => [meterStampNs(text), ...timeFormats.map((format) => fileStampNs(text, format))],
  },
  {
    name: 'number',
    seeds: ['12.5', '1e300', '-0', '9223372036854775807'],
    read: (text) => [quantityOf(text, 'W'), quantityOf(text, 'Wh')],
  },
  {
    name: 'prometheus text',
    seeds: ['# TYPE m gauge\nm{gpu="0",a="b\\"c"} 12.5 1700000000\nm{gpu="1"} 7\n'],
    read: (text) => prometheusReading(text, prometheus),
  },
  {
    name: 'prometheus query',
    seeds: [
      '{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"61.5"]}]}}',
    ],
    read: (text) => queryReading(text, 'W'),
  },
  {
    name: 'json',
    seeds: ['{"PowerWatts":{"Reading":344}}', '{"PowerWatts":[{"Reading":"1"}]}'],
    read: (text) => [jsonReading(text, ['PowerWatts', 'Reading'], 'W'), jsonReading(text, [], 'J')],
  },
  {
    name: 'csv row',
    seeds: ['2026-11-29T23:59:58Z,12.5', '"2026-11-29T23:59:58Z","1""2"'],
    read: (text) => csv.take(text),
  },
  { name: 'json row', seeds: ['{"t":1700000000.5,"w":3}'], read: (text) => json.take(text) },
  {
    name: 'dcmi',
    seeds: [
      'Instantaneous power reading: 216 Watts\nPower reading state is: activated',
      'Current Power : 164 Watts\nPower Measurement : Active',
    ],
    read: dcmiReading,
  },
  { name: 'lines', seeds: ['one\r\ntwo\nthree'], read: (text) => splitter.push(Buffer.from(text)) },
  { name: 'agent ping', seeds: ['{"now_ns":"123"}'], read: parsePong },
  { name: 'agent facts', seeds: [facts], read: parseFacts },
  {
    name: 'agent line',
    seeds: [
      samplesLine(columns),
      '{"kind":"begin","domains":["a","b"],"channels":[{"device":"d","channel":"t_c","unit":"°C"}]}',
      '{"kind":"channels","at_ns":["5"],"channel":[1],"value":[3],"value_valid":[1],"text":["x"],"missing_reason":[null]}',
      '{"kind":"status","reads":1,"missed_deadlines":0,"read_ns":2,"flags":["stale:a"],"observed":[{"domain":"a","update_period_ns":1,"reason":null,"quantum":1,"samples":2}]}',
      '{"kind":"failed","reason":"x"}',
      '{"kind":"alive"}',
    ],
    read(text) {
      const line = parseAgentLine(text, { domains: 2, channels: 2 });
      if (line.kind === 'begin') heard.begin(line.domains.map((_, i) => i));
      if (line.kind === 'samples') heard.take(line.columns, 7n);
      heard.drain();
    },
  },
];

const pieces = [
  '',
  '-1',
  '0',
  'null',
  '"',
  '""',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\n',
  '\r\n',
  '\\',
  '\u0000',
  '\ufffd',
  'NaN',
  'Infinity',
  '1e999',
  '9223372036854775808',
  '99999999999999999999',
  '140737488355328.0',
  '-9223372036854775809',
  '__proto__',
  'constructor',
  'Watts',
  'Ch1',
  '😀',
  ' '.repeat(100),
  '0'.repeat(400),
];

/** A right input with some damage: bytes changed, cut, doubled, or strange pieces put in. */
function damaged(seed: string, next: () => number): string {
  let text = seed;
  const at = () => Math.floor(next() * (text.length + 1));
  for (let i = Math.floor(next() * 4); i >= 0; i -= 1) {
    const [from, to] = [at(), at()].toSorted((a, b) => a - b) as [number, number];
    const kind = Math.floor(next() * 5);
    if (kind === 0) text = text.slice(0, from);
    else if (kind === 1) text = text.slice(0, from) + text.slice(to);
    else if (kind === 2) text = text.slice(0, to) + text.slice(from);
    else if (kind === 3)
      text = text.slice(0, from) + String.fromCharCode(Math.floor(next() * 256)) + text.slice(from + 1);
    else text = text.slice(0, from) + (pieces[Math.floor(next() * pieces.length)] ?? '') + text.slice(from);
  }
  return text.slice(0, 1 << 16);
}

export interface FuzzReport {
  readonly inputs: number;
  /** Inputs that were refused with a typed error. */
  readonly refused: number;
  /** Longest time one input took, ms. */
  readonly slowest_ms: number;
}

/** Feeds every reader damaged inputs in turn. Throws at the first that throws anything but a `PerwattError`, with the input. */
export function fuzz(inputs: number, seed: number): FuzzReport {
  const next = createRng(seed);
  let refused = 0;
  let slowest_ms = 0;
  for (let i = 0; i < inputs; i += 1) {
    const target = fuzzTargets[i % fuzzTargets.length];
    const start = target?.seeds[Math.floor(next() * target.seeds.length)] ?? '';
    const text = damaged(start, next);
    const began = performance.now();
    try {
      target?.read(text);
    } catch (error) {
      if (!(error instanceof PerwattError)) {
        throw new Error(`${target?.name} threw on ${JSON.stringify(text)}`, { cause: error });
      }
      refused += 1;
    }
    slowest_ms = Math.max(slowest_ms, performance.now() - began);
  }
  return { inputs, refused, slowest_ms };
}
