// The programs that are compared: how each is told to make n streamed calls, so many at a time, and what it says of them.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ours = fileURLToPath(new URL('./ours.mjs', import.meta.url));
const LIMIT_MS = 400_000;

/** Ours; with `running`, asking for the usage so far in every event, as GuideLLM does. */
export const perwatt = (name, running) => ({
  name,
  async run(task) {
    const { scratch, keep } = task;
    const settings = join(scratch, 'ours.json');
    const result = keep ? join(scratch, 'calls.json') : null;
    writeFileSync(settings, JSON.stringify({ ...task, running, result }));
    const { cpu_s, out } = await timed(process.execPath, [ours, settings], scratch);
    const { ok } = JSON.parse(out);
    return { cpu_s, ok, calls: result === null ? [] : JSON.parse(readFileSync(result, 'utf8')) };
  },
});

export const aiperf = (bin) => ({
  name: 'AIPerf',
  async run({ url, n, streams, tokens, prompts, scratch, tokenizer }) {
    const input = join(scratch, 'aiperf.jsonl');
    const out = join(scratch, 'aiperf');
    rmSync(out, { recursive: true, force: true });
    writeFileSync(input, prompts.map((text) => `${JSON.stringify({ text })}\n`).join(''));
    // biome-ignore format: options and their values
    const args = ['profile', '--model', 'mock', '--url', url.replace(/\/v1$/, ''), '--endpoint-type', 'chat', '--streaming',
      '--input-file', input, '--custom-dataset-type', 'single_turn', '--tokenizer', tokenizer, '--use-server-token-count',
      '--use-legacy-max-tokens', '--extra-inputs', `max_tokens:${tokens}`, '--request-count', `${n}`, '--concurrency', `${streams}`,
      '--workers-max', '1', '--record-processors', '1', '--ui', 'none', '--no-server-metrics', '--no-gpu-telemetry',
      '--output-artifact-dir', out];
    const { cpu_s } = await timed(join(bin, 'aiperf'), args, scratch);
    const calls = readFileSync(join(out, 'profile_export.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ error }) => error === undefined || error === null)
      .map(({ metadata, metrics }) => ({
        key: metadata.x_request_id,
        ttft_ms: metrics.time_to_first_token.value,
        gaps_ms: metrics.inter_chunk_latency?.value ?? [],
      }));
    return { cpu_s, ok: calls.length, calls };
  },
});

export const guidellm = (bin) => ({
  name: 'GuideLLM',
  async run({ url, n, streams, tokens, prompts, scratch, tokenizer }) {
    const input = join(scratch, 'guidellm.jsonl');
    const out = join(scratch, 'guidellm.json');
    mkdirSync(scratch, { recursive: true });
    rmSync(out, { force: true });
    const rows = Array.from({ length: n }, (_, i) => ({
      prompt: `${prompts[i % prompts.length]} ${i}`,
      output_tokens_count: tokens,
    }));
    writeFileSync(input, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    // biome-ignore format: options and their values
    const args = ['run', '--backend', `kind=openai_http,target=${url.replace(/\/v1$/, '')},model=mock`,
      '--profile', `kind=concurrent,streams=${streams}`, '--constraint', `kind=max_requests,count=${n}`,
      '--tokenizer', `kind=hf_auto,model=${tokenizer}`, '--data', `kind=json_file,path=${input}`,
      '--output', `kind=json,path=${out}`, '--disable-console'];
    const { cpu_s } = await timed(join(bin, 'guidellm'), args, scratch);
    const { requests } = JSON.parse(readFileSync(out, 'utf8')).benchmarks[0];
    const calls = requests.successful.map(({ response_id, info: { timings } }) => ({
      id: response_id,
      ttft_ms: 1000 * (timings.first_token_iteration - timings.request_start),
      span_ms: 1000 * (timings.last_token_iteration - timings.first_token_iteration),
    }));
    return { cpu_s, ok: calls.length, calls };
  },
});

/**
 * Sends whole requests and takes no stamp of any token: the floor of what a call costs. It goes by time, of which `n` is the
 * number of seconds.
 */
export const wrk = (bin) => ({
  name: 'wrk, no stamps',
  sizes: [1, 4],
  stamps: false,
  async run({ url, n, streams, tokens, prompts, scratch }) {
    const script = join(scratch, 'wrk.lua');
    const body = JSON.stringify({
      model: 'mock',
      messages: [{ role: 'user', content: prompts[0] }],
      max_tokens: tokens,
      stream: true,
      stream_options: { include_usage: true },
    });
    const lines = ['wrk.method = "POST"', 'wrk.headers["content-type"] = "application/json"'];
    writeFileSync(script, [...lines, `wrk.body = ${JSON.stringify(body)}`].join('\n'));
    const args = [
      '-t1',
      `-c${streams}`,
      `-d${n}s`,
      '--timeout',
      '60s',
      '-s',
      script,
      `${url}/chat/completions`,
    ];
    const { cpu_s, out } = await timed(bin, args, scratch);
    if (/Non-2xx|Socket errors/.test(out)) throw new Error(`wrk: ${out}`);
    return { cpu_s, ok: Number(/(\d+) requests in/.exec(out)?.[1]), calls: [] };
  },
});

/** Runs a program and gives its CPU time, that of its children included, and what it printed. Throws where it fails. */
function timed(command, args, scratch) {
  const times = join(scratch, 'times');
  const script = 'TIMEFORMAT="%U %S"; { time "$@" 2>"$0.log" ; } 2>"$0"';
  const child = spawn('bash', ['-c', script, times, command, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: scratch,
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      if (code !== 0) {
        const said = readFileSync(`${times}.log`, 'utf8').trim().split('\n').slice(-5).join('\n');
        reject(new Error(`${command} ended with ${code}: ${said}`));
        return;
      }
      const [user, system] = readFileSync(times, 'utf8').trim().split(/\s+/).map(Number);
      resolve({ cpu_s: user + system, out });
    });
  });
}
