// What a streamed call and a stamped token cost the client, and how far its times are from the server's own, beside other load
// generators: the same mock server in a process of its own, the same streams, one program after the other in turns.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseMockDelay, startMockServer } from '@perwatt/clients';
import { errorsOf } from './load/errors-of.mjs';
import { installed, peer, peerVersion } from './load/peers.mjs';
import { aiperf, guidellm, perwatt, wrk } from './load/programs.mjs';
import { medianOf } from './stats.mjs';

const ROUNDS = Number(process.env.PERWATT_BENCH_ROUNDS ?? 1);
const PARTS = (process.env.PERWATT_BENCH_PARTS ?? 'cost,error').split(',');
const STREAMS = (process.env.PERWATT_BENCH_STREAMS ?? '64,512,2048').split(',').map(Number);
/** Calls of the smaller and the larger of two runs; what they differ by leaves start-up out. */
const sizes = {
  16: { ours: [1000, 9000], peers: [200, 1000] },
  256: { ours: [200, 1800], peers: [100, 600] },
};

/** With `long`, three rounds instead of one. `PERWATT_BENCH_PARTS` names some of the parts only. */
export async function run({ long = false } = {}) {
  const scratch = mkdtempSync(join(tmpdir(), 'perwatt-bench-load-'));
  try {
    const shared = { scratch, tokenizer: makeTokenizer(scratch), prompts: promptsOf(64) };
    const { programs, problems } = available();
    const before = load();
    const rounds = long ? Math.max(3, ROUNDS) : ROUNDS;
    const cost = PARTS.includes('cost') ? await costs(programs, shared, rounds) : null;
    const error = PARTS.includes('error') ? await errors(programs, shared, rounds) : null;
    const versions = { aiperf: peerVersion('aiperf'), guidellm: peerVersion('guidellm') };
    const lines = [
      ...(cost === null ? [] : costLines(cost)),
      ...(error === null ? [] : errorLines(error)),
      ...problems,
      `load average ${before} before and ${load()} after`,
    ];
    return { passed: judge(cost), lines, data: { rounds, cost, error, versions } };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const load = () => (loadavg()[0] ?? 0).toFixed(0);

function available() {
  const programs = [perwatt('Perwatt', false), perwatt('Perwatt, running usage', true)];
  const problems = [];
  for (const [name, make] of Object.entries({ aiperf, guidellm })) {
    const { bin, problem } = peer(name);
    if (bin === null) problems.push(`${name} skipped: ${problem}`);
    else programs.push(make(bin));
  }
  const plain = installed('wrk', 'on Debian `apt-get install wrk`');
  if (plain.bin === null) problems.push(`wrk skipped: ${plain.problem}`);
  else programs.push(wrk(plain.bin));
  return { programs, problems };
}

/** A tokenizer of whole words, as files: the other programs ask for one, and count by it. */
function makeTokenizer(scratch) {
  const folder = join(scratch, 'tokenizer');
  mkdirSync(folder);
  const unknown = {
    id: 0,
    content: '<unk>',
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  };
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [unknown],
    normalizer: null,
    pre_tokenizer: { type: 'Whitespace' },
    post_processor: null,
    decoder: null,
    model: { type: 'WordLevel', vocab: { '<unk>': 0, word: 1 }, unk_token: '<unk>' },
  };
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer));
  const about = { tokenizer_class: 'PreTrainedTokenizerFast', unk_token: '<unk>', model_max_length: 1 << 20 };
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(about));
  return folder;
}

/** Prompts of some 700 bytes. */
const promptsOf = (count) => Array.from({ length: count }, (_, i) => `${'word '.repeat(140)}${i}`);

/** Every program at every one of the loads, in turns. */
function* turns(loads, rounds, programs) {
  for (const load of loads)
    for (let round = 0; round < rounds; round++)
      for (const program of programs) yield { load, round, program };
}

/** CPU time of a call and of a token: two runs of different size, with whole answers in one write. */
async function costs(programs, shared, rounds) {
  const rows = [];
  for (const { load: tokens, round, program } of turns([16, 256], rounds, programs)) {
    const own = program.name.startsWith('Perwatt') ? sizes[tokens].ours : sizes[tokens].peers;
    const counts = program.sizes ?? own;
    const runs = [];
    for (const n of counts)
      runs.push(await once(program, { ...shared, n, streams: 64, tokens, keep: false }, {}));
    const [small, large] = runs;
    const call_s = (large.cpu_s - small.cpu_s) / (large.ok - small.ok);
    rows.push({ program: program.name, tokens, round, call_s, start_s: small.cpu_s - call_s * small.ok });
    console.log(`  ${program.name}, ${tokens} tokens: ${(call_s * 1e6).toFixed(0)} µs a call`);
  }
  return rows;
}

/** How far times are off, at so many streams at a time of 16 tokens each 100 ms. */
async function errors(programs, shared, rounds) {
  const rows = [];
  const ttft = parseMockDelay('gamma:200:4');
  const tpot = parseMockDelay('100');
  const log = join(shared.scratch, 'server.log');
  const timed = programs.filter(({ name, stamps }) => name !== 'Perwatt, running usage' && stamps !== false);
  for (const { load: streams, round, program } of turns(STREAMS, rounds, timed)) {
    const task = { ...shared, n: 4 * streams, streams, tokens: 16, keep: true };
    const { calls } = await once(program, task, { ttft, tpot, log });
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    const found = errorsOf(
      calls,
      lines.map((line) => JSON.parse(line)),
    );
    rows.push({ program: program.name, streams, round, ...found });
    const { n, p50 } = found.ttft_ms;
    console.log(
      `  ${program.name}, ${streams} streams: ${n} calls, first token off by p50 ${p50.toFixed(2)} ms`,
    );
  }
  return rows;
}

async function once(program, task, options) {
  const mock = await startMockServer(options);
  try {
    return await program.run({ ...task, url: mock.url });
  } finally {
    await mock.close();
  }
}

const groupsOf = (rows, key) =>
  rows.reduce((map, row) => map.set(key(row), [...(map.get(key(row)) ?? []), row]), new Map());
const median = (rows, value) => medianOf(rows.map(value));

function costLines(rows) {
  const lines = [
    '| tokens | program | calls / CPU-s | tokens / CPU-s | Perwatt is |',
    '|---:|---|---:|---:|---:|',
  ];
  for (const [tokens, sized] of groupsOf(rows, (row) => row.tokens)) {
    const groups = groupsOf(sized, (row) => row.program);
    const own = median(groups.get('Perwatt'), (row) => row.call_s);
    for (const [program, each] of groups) {
      const call_s = median(each, (row) => row.call_s);
      const [calls, stamped] = [1 / call_s, tokens / call_s].map(Math.round);
      const figures =
        call_s > 0
          ? `${calls} | ${stamped} | ${(call_s / own).toFixed(1)}×`
          : 'not told from start-up | – | –';
      lines.push(`| ${tokens} | ${program} | ${figures} |`);
    }
  }
  return lines;
}

function errorLines(rows) {
  const ms = (each, value) =>
    each.every((row) => value(row) === undefined) ? '–' : median(each, value).toFixed(2);
  const lines = [
    '',
    '| streams | program | first token, ms: p50 | p99 | mean gap, ms: p50 | p99 | each gap, ms: p50 | p99 |',
    '|---:|---|---:|---:|---:|---:|---:|---:|',
  ];
  for (const [streams, sized] of groupsOf(rows, (row) => row.streams))
    for (const [program, each] of groupsOf(sized, (row) => row.program)) {
      const figures = ['ttft_ms', 'mean_gap_ms', 'gap_ms'].flatMap((name) =>
        ['p50', 'p99'].map((share) => ms(each, (row) => row[name]?.[share])),
      );
      const name = each.every(({ reuses }) => reuses) ? program : `${program}, a connection a call`;
      lines.push(`| ${streams} | ${name} | ${figures.join(' | ')} |`);
    }
  return lines;
}

/** A call costs the other programs at least ten times as much, wherever its cost is told from that of starting them. */
function judge(rows) {
  if (rows === null) return true;
  return [...groupsOf(rows, (row) => row.tokens).values()].every((sized) => {
    const groups = groupsOf(sized, (row) => row.program);
    const own = median(groups.get('Perwatt'), (row) => row.call_s);
    return ['AIPerf', 'GuideLLM']
      .flatMap((name) => (groups.has(name) ? [median(groups.get(name), (row) => row.call_s)] : []))
      .every((call_s) => call_s <= 0 || call_s >= 10 * own);
  });
}
