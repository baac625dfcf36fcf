import { PerwattError } from '@perwatt/core';
import { expect, test } from 'vitest';
import { engineCommand } from './engine-command.js';
import { entryOf } from './fake-engine.fixture.js';

const target = { model: 'org/model', name: 'mine', port: 8123 };
const all = {
  context_tokens: 4096,
  sequences: 8,
  parallel: { tensor: 2, pipeline: 3, data: 4 },
  quantisation: 'fp8',
  flags: ['--x', 1],
};
const { quantisation: _, ...unquantised } = all;
const { parallel: __, ...single } = unquantised;

const words = (text: string) => text.split(' ');

// biome-ignore format: a table is read in columns
test.each([
  ['vllm', all, 'vllm serve org/model --served-model-name mine --host 127.0.0.1 --port 8123 --max-model-len 4096 --max-num-seqs 8 --tensor-parallel-size 2 --pipeline-parallel-size 3 --data-parallel-size 4 --quantization fp8 --x 1', 'mine', '/health', 'every setting has its flag'],
  ['sglang', all, 'python3 -m sglang.launch_server --model-path org/model --served-model-name mine --host 127.0.0.1 --port 8123 --enable-metrics --context-length 4096 --max-running-requests 8 --tp-size 2 --pp-size 3 --dp-size 4 --quantization fp8 --x 1', 'mine', '/health', 'metrics are off unless asked for'],
  ['llama-server', single, 'llama-server -hf org/model --alias mine --host 127.0.0.1 --port 8123 --metrics --ctx-size 32768 --parallel 8 --x 1', 'mine', '/health', 'its context is for all slots together'],
  ['tokasaurus', unquantised, 'tksrs model=org/model port=8123 max_num_tokens_per_request=4096 max_seqs_per_forward=8 tp_size=2 pp_size=3 dp_size=4 --x 1', 'org/model', '/ping', 'pairs instead of flags; the name is the model'],
  ['ollama', single, 'ollama serve --x 1', 'org/model', '/api/version', 'settings go by the environment'],
])('%s is started with its own arguments', (kind, settings, argv, request_model, health, _why) => {
  const command = engineCommand('e', entryOf({ kind, ...settings }), target);
  expect(command.argv).toEqual(words(argv));
  expect(command).toMatchObject({ request_model, health });
});

test('ollama is told by its environment, which the entry has the last word on', () => {
  const entry = entryOf({ kind: 'ollama', ...single, env: { OLLAMA_KEEP_ALIVE: '5m' } });
  expect(engineCommand('e', entry, target).env).toEqual({
    OLLAMA_HOST: '127.0.0.1:8123',
    OLLAMA_KEEP_ALIVE: '5m',
    OLLAMA_CONTEXT_LENGTH: '4096',
    OLLAMA_NUM_PARALLEL: '8',
  });
});

test.each([
  ['./m.gguf', '-m'],
  ['/models/m.gguf', '-m'],
  ['org/m.gguf', '-m'],
  ['org/model', '-hf'],
  ['/models/folder', '-m'],
])('llama-server loads %s by %s', (model, flag) => {
  const { argv } = engineCommand('e', entryOf({ kind: 'llama-server' }), { ...target, model });
  expect(argv.slice(1, 3)).toEqual([flag, model]);
});

test('any program has its placeholders filled', () => {
  const entry = entryOf({
    kind: 'command',
    command: ['serve', '--port={port}', '--host', '{host}', '{model}', '--as', '{name}', '{"json":1}'],
    flags: ['-c', '{context_tokens}'],
    env: { WHERE: '{host}:{port}' },
    context_tokens: 512,
    health: '/ok',
  });
  expect(engineCommand('e', entry, target)).toEqual({
    argv: [
      'serve',
      '--port=8123',
      '--host',
      '127.0.0.1',
      'org/model',
      '--as',
      'mine',
      '{"json":1}',
      '-c',
      '512',
    ],
    env: { WHERE: '127.0.0.1:8123' },
    request_model: 'mine',
    health: '/ok',
  });
});

// biome-ignore format: a table is read in columns
test.each([
  [{ kind: 'command' }, 'needs `command`', 'nothing to run'],
  [{ kind: 'command', command: ['x', '{model}'] }, 'says nowhere which {port}', 'it could not be found'],
  [{ kind: 'command', command: ['x', '{port}', '{modle}'] }, '{modle} is not known; there are', 'a slip'],
  [{ kind: 'command', command: ['x', '{port}', '{sequences}'] }, '{sequences} stands in its command, but sequences is not set', 'a hole in the command'],
  [{ kind: 'command', command: ['x', '{port}'], sequences: 4 }, 'sequences is set, but its command has no {sequences}', 'a setting that would be lost'],
  [{ kind: 'llama-server', parallel: { tensor: 2 } }, 'kind llama-server has no argument for tensor', 'a setting that would be lost'],
  [{ kind: 'lmstudio', container: { image: 'x' } }, 'does not run in a container', 'it is no program of its own'],
])('%j is refused: %s', (entry, message, _why) => {
  let error: unknown;
  try {
    engineCommand('e', entryOf(entry), target);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(PerwattError);
  expect(error).toMatchObject({ code: 'INPUT_INVALID', message: expect.stringContaining(`engine "e": `) });
  expect((error as Error).message).toContain(message);
});

test('a model that would be read as a flag is refused', () => {
  expect(() =>
    engineCommand('e', entryOf({ kind: 'vllm' }), { ...target, model: '--trust-remote-code' }),
  ).toThrow('begins with a dash');
});
