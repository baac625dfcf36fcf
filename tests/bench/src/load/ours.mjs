// Makes n calls through the load engine, so many at a time, and prints what it saw of each as JSON. Arguments: a file of settings.
import { readFileSync, writeFileSync } from 'node:fs';
import { createLoadEngine } from '@perwatt/clients';
import { clock } from '@perwatt/native-power';

const { url, n, streams, tokens, running, prompts, result } = JSON.parse(
  readFileSync(process.argv[2], 'utf8'),
);
const stream_options = { include_usage: true, ...(running ? { continuous_usage_stats: true } : {}) };
const bodyOf = (row) =>
  JSON.stringify({
    model: 'mock',
    messages: [{ role: 'user', content: prompts[row % prompts.length] }],
    user: String(row),
    max_tokens: tokens,
    stream: true,
    stream_options,
  });

let sent = 0;
let ended = 0;
let settle = () => {};
const over = new Promise((resolve) => {
  settle = resolve;
});
const next = () => {
  if (sent < n) engine.send({ row: sent, due_ns: null, body: bodyOf(sent++) });
};
const calls = [];
let tokensSeen = 0;
const parts = [];
/** Takes what has ended; it is looked at when all is over, so that no call waits for it. */
const keep = () => void parts.push(engine.drain());
const lookAt = (columns) => {
  for (let i = 0; i < columns.length; i++) {
    if (columns.status.names[columns.status.indices[i]] !== 'ok') continue;
    tokensSeen += columns.completion_tokens.values[i];
    if (result === null) calls.length += 1;
    else
      calls.push({
        key: String(columns.row[i]),
        ttft_ms: Number(columns.first_any_ns.values[i] - columns.dispatch_ns.values[i]) / 1e6,
        gaps_ms: Array.from(
          columns.icl_ns.values.subarray(columns.icl_ns.offsets[i], columns.icl_ns.offsets[i + 1]),
          (ns) => ns / 1e6,
        ),
      });
  }
};
const engine = createLoadEngine({
  url,
  api: 'chat',
  clock,
  connections: streams,
  onEnded() {
    ended += 1;
    if (engine.ended >= 4096) keep();
    next();
    if (ended === n) settle();
  },
});
const started = performance.now();
for (let i = 0; i < streams; i++) next();
await over;
const wall_s = (performance.now() - started) / 1000;
keep();
await engine.close();
for (const columns of parts) lookAt(columns);
if (result !== null) writeFileSync(result, JSON.stringify(calls));
console.log(
  JSON.stringify({
    ok: calls.length,
    tokens: tokensSeen,
    wall_s,
    rss_bytes: process.resourceUsage().maxRSS * 1024,
  }),
);
