import { availableParallelism } from 'node:os';
import { embeddedClient, mockFailures, resolveModel, serveClient } from '@perwatt/clients';
import { type Clock, PerwattError } from '@perwatt/core';
import { clock as runClock } from '@perwatt/native-power';
import { Command, InvalidArgumentError } from 'commander';
import { aborted } from '../aborted.js';
import type { Io } from '../io.js';
import { type MockFlags, mockOptions, serveMock } from '../serve-mock.js';

interface Flags extends MockFlags {
  readonly mock?: boolean;
  readonly model?: string;
  readonly host: string;
  readonly port: number;
  readonly threads: number;
  readonly sequences: number;
  readonly contextTokens?: number;
  readonly gpu?: boolean;
  readonly name?: string;
  readonly apiKeyEnv?: string;
  readonly json?: boolean;
}

const examples = `
Examples:
  perwatt serve --model smollm2-135m
  perwatt serve --model ./my-model.gguf --name mine --port 8080 --sequences 4
  perwatt serve --mock --ttft-ms gamma:200:4 --tpot-ms batch:8:0.5 --fail reset:0.01 error:0.005

Answers /v1/chat/completions and /v1/completions (with and without streaming), /v1/models, /health and /metrics.
Ctrl-C ends it.

With --mock there is no model: answers are words, at the times and with the failures that the options say, and every
event carries at_ns, when it was sent (CLOCK_MONOTONIC, ns). It also answers /metrics (by the names of vLLM), /tokenize and
/detokenize (a token for each 4 bytes begun). Times are ms: 20, gamma:MEAN:SHAPE, batch:BASE:EACH (of the answers being
written) or prompt:BASE:EACH (of the prompt's tokens). A request may have its own: "mock": {"ttft", "tpot", "tokens",
"tokens_per_event", "fail"} in its body, or the same object in its header x-mock.
Failures: ${mockFailures.join(', ')}.`;

/** `perwatt serve`: the embedded engine behind an OpenAI-compatible endpoint, until it is told to stop. */
export const serveCommand = (io: Io, clock: Clock = runClock): Command =>
  new Command('serve')
    .description('Serve a model on this machine through an OpenAI-compatible endpoint')
    .option('--model <id-or-path>', 'model of the catalogue, or a GGUF file')
    .option('--mock', 'serve no model, but made-up answers for tests of load')
    .option('--name <name>', 'name that callers use; default: the id, or the file name')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes any free one', whole(0, 65_535), 8080)
    .option('--threads <n>', 'threads of the engine', whole(1, 1024), Math.max(1, availableParallelism() - 1))
    .option('--sequences <n>', 'calls decoded at a time', whole(1, 256), 1)
    .option('--context-tokens <n>', 'tokens that one call may take', whole(64, 1 << 24))
    .option('--gpu', 'let the engine use a GPU')
    .option('--api-key-env <name>', 'environment variable that holds the key callers must send')
    .option('--json', 'print the address and the facts as JSON')
    .option('--ttft-ms <time>', 'mock: time to the first token')
    .option('--tpot-ms <time>', 'mock: time from one event to the next')
    .option('--tokens <n>', 'mock: tokens of an answer; default: as many as are asked for', whole(0, 1 << 24))
    .option('--tokens-per-event <n>', 'mock: tokens in each event', whole(1, 1 << 16))
    .option('--slots <n>', 'mock: answers written at a time; later calls wait', whole(1, 1 << 20))
    .option('--fail <kind:rate...>', 'mock: failures, each with the share of the calls it befalls')
    .option('--seed <n>', 'mock: seed of every random choice', whole(0, 2 ** 31 - 1))
    .option('--log <file>', "mock: file for a line of JSON for each answer, with the server's own stamps")
    .addHelpText('after', examples)
    .action((flags: Flags) => {
      if (flags.mock === true) return serveMock(mockOptions(flags), flags.json === true, io);
      if (flags.model !== undefined) return serve({ ...flags, model: flags.model }, io, clock);
      throw new PerwattError('USAGE', 'neither `--model` nor `--mock` says what to serve');
    });

async function serve(flags: Flags & { readonly model: string }, io: Io, clock: Clock): Promise<void> {
  const weights = await resolveModel(flags.model, { env: io.env, cwd: io.cwd, signal: io.signal });
  const name = flags.name ?? weights.id ?? flags.model.replace(/^.*[\\/]/, '').replace(/\.gguf$/i, '');
  const client = embeddedClient({
    modelPath: weights.path,
    model: name,
    modelSha256: weights.sha256,
    quantisation: weights.quantisation,
    threads: flags.threads,
    sequences: flags.sequences,
    gpu: flags.gpu === true,
    clock,
    ...(flags.contextTokens === undefined ? {} : { contextTokens: flags.contextTokens }),
  });
  const apiKey = flags.apiKeyEnv === undefined ? undefined : keyOf(flags.apiKeyEnv, io);
  try {
    const served = await serveClient({
      client,
      models: [name],
      host: flags.host,
      port: flags.port,
      clock,
      wallTime: io.wallTime,
      sequences: flags.sequences,
      ...(apiKey === undefined ? {} : { apiKey }),
    });
    const facts = await client.open();
    if (flags.json) io.print(JSON.stringify({ url: served.url, pid: process.pid, facts }));
    else
      io.print(
        `serving ${name} at ${served.url} with ${facts.engine_version}, ${facts.threads} threads; Ctrl-C ends it`,
      );
    await aborted(io.signal);
    await served.close();
  } finally {
    await client.close();
  }
}

function keyOf(name: string, io: Io): string {
  const key = io.env[name];
  if (key !== undefined && key !== '') return key;
  throw new PerwattError('INPUT_INVALID', `environment variable ${name} holds no key`, {
    hint: 'Set it to the key that callers are to send, or leave `--api-key-env` out.',
  });
}

function whole(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}`);
  };
}
