import { type Engine, openEngine } from './engine.js';
import type { EngineModule } from './engine-api.js';
import type { EngineOptions, FromEngine, ToEngine } from './protocol.js';
import { codeOf, messageOf } from './thrown.js';

/**
 * The process that holds the engine. It answers on its IPC channel, takes every stamp itself, and ends with its parent:
 * the channel closes even when the parent is killed. A Ctrl-C reaches it too and is left to the parent.
 */
const calls = new Map<number, AbortController>();
const logged: string[] = [];
let engine: Engine | null = null;

process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToEngine) => void take(message));

function send(message: FromEngine): void {
  if (process.connected) process.send?.(message);
}

async function take(message: ToEngine): Promise<void> {
  switch (message.kind) {
    case 'open':
      return open(message.options);
    case 'clock':
      return send({ kind: 'clock', at_ns: process.hrtime.bigint() });
    case 'cancel':
      return calls.get(message.id)?.abort();
    case 'call':
      return answer(message);
  }
}

async function open(options: EngineOptions): Promise<void> {
  let module: EngineModule;
  try {
    module = (await import(options.engineModule)) as EngineModule;
  } catch (error) {
    const missing = codeOf(error) === 'ERR_MODULE_NOT_FOUND';
    const message = `cannot load ${options.engineModule}: ${messageOf(error)}`;
    return send({ kind: 'failed', code: missing ? 'ENGINE_MISSING' : 'ENGINE_FAILED', message });
  }
  try {
    engine = await openEngine(module, options, (line) => logged.push(line));
    send({ kind: 'opened', facts: engine.facts });
  } catch (error) {
    const said = [messageOf(error), ...logged.slice(-3)].filter((line) => line !== '');
    send({ kind: 'failed', code: 'ENGINE_FAILED', message: said.join('; ') });
  }
}

async function answer(call: Extract<ToEngine, { kind: 'call' }>): Promise<void> {
  if (engine === null) return;
  const aborting = new AbortController();
  calls.set(call.id, aborting);
  const onText = call.deltas ? (text: string) => send({ kind: 'delta', id: call.id, text }) : undefined;
  const answered = await engine.answer(call, aborting.signal, onText);
  calls.delete(call.id);
  send({ kind: 'answer', id: call.id, answer: answered });
}
