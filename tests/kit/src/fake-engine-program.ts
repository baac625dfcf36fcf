import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A program like vLLM's: logs, is healthy after `FAKE_LATE_MS`, answers each call with words, one a token. With
 * `FAKE_DIE_AT=CALL:TOKEN` it ends at that token of that call, with `FAKE_ENDS` before it serves; with `FAKE_DEAF` it
 * ignores the request to end; with `FAKE_REFUSE` it refuses every call; `FAKE_HELPER` makes a process of its own, whose
 * id it logs.
 */
const source = `#!/usr/bin/env node
import { createServer } from 'node:http';
import { spawn } from 'node:child_process';
const { env, argv } = process;
const at = (flag) => argv[argv.indexOf(flag) + 1];
console.log('INFO arguments', JSON.stringify(argv.slice(2)));
console.error('INFO loading weights');
if (env.FAKE_HELPER) {
  const helper = spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: 'ignore', detached: env.FAKE_HELPER === 'apart' });
  console.log('helper', helper.pid);
}
if (env.FAKE_ENDS) { console.error('ValueError: no such model'); process.exit(3); }
if (env.FAKE_DEAF) process.on('SIGTERM', () => console.log('not listening'));
else process.on('SIGTERM', () => { console.log('INFO bye'); process.exit(0); });
const healthyAt = Date.now() + Number(env.FAKE_LATE_MS ?? 0);
let calls = 0;
let tokens = 0;
createServer((request, response) => {
  const path = request.url.split('?')[0];
  const json = (value, status = 200) => { response.writeHead(status, { 'content-type': 'application/json' }); response.end(JSON.stringify(value)); };
  if (Date.now() < healthyAt) return json({ error: 'loading' }, 503);
  if (path === '/health') return response.end();
  if (path === '/version') return json({ version: '9.8.7' });
  if (path === '/v1/models') return json({ data: [{ id: at('--served-model-name'), owned_by: 'vllm', max_model_len: 2048 }] });
  if (path === '/metrics') return response.end('vllm:num_requests_running{engine="0"} ' + 0 + '\\nvllm:num_requests_waiting{engine="0"} 0\\nvllm:kv_cache_usage_perc{engine="0"} 0.25\\nvllm:prompt_tokens_total{engine="0"} ' + calls * 3 + '\\nvllm:generation_tokens_total{engine="0"} ' + tokens + '\\n');
  let text = '';
  request.on('data', (bytes) => { text += bytes; });
  request.on('end', async () => {
    calls += 1;
    const body = JSON.parse(text);
    if (env.FAKE_REFUSE) return json({ error: { message: 'model is not here' } }, 404);
    const [deadly, last] = (env.FAKE_DIE_AT ?? ':').split(':').map(Number);
    const usage = (n) => ({ prompt_tokens: 3, completion_tokens: n, total_tokens: 3 + n });
    if (!body.stream) { tokens += 1; return json({ choices: [{ index: 0, message: { role: 'assistant', content: 'word' }, finish_reason: 'length' }], usage: usage(1) }); }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let n = 1; n <= body.max_tokens; n++) {
      if (calls === deadly && n === last) { console.error('CUDA error: an illegal memory access was encountered'); process.exit(70); }
      tokens += 1;
      response.write('data: ' + JSON.stringify({ choices: [{ index: 0, delta: { content: 'word ' } }], usage: usage(n) }) + '\\n\\n');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end('data: ' + JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }], usage: usage(body.max_tokens) }) + '\\n\\ndata: [DONE]\\n\\n');
  });
}).listen(Number(at('--port')), at('--host'), () => console.log('INFO listening'));
`;

/** Writes an executable file and returns its path. */
export function executable(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

/** A serving engine for tests, as an executable; its path. */
export const fakeVllm = (folder: string): string => executable(folder, 'fake-vllm.mjs', source);
