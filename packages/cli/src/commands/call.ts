import { text as readText } from 'node:stream/consumers';
import { openAiClient } from '@perwatt/clients';
import { type CallInput, type CallRecord, type Clock, type Message, PerwattError } from '@perwatt/core';
import { clock as runClock } from '@perwatt/native-power';
import { Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../duration.js';
import type { Io } from '../io.js';
import { stdinOf } from '../stdin.js';

interface Flags {
  readonly endpoint: string;
  readonly model: string;
  readonly prompt: string;
  readonly system?: string;
  readonly maxTokens: number;
  readonly temperature: number;
  readonly topP: number;
  readonly seed?: number;
  readonly api: 'chat' | 'completion';
  readonly json?: boolean;
  readonly idleTimeout: number;
  readonly headersTimeout: number;
  readonly stream: boolean;
  readonly apiKeyEnv?: string;
}

const examples = `
Examples:
  perwatt call --endpoint http://127.0.0.1:8080/v1 --model smollm2-135m --prompt "Name a colour."
  echo "Long question" | perwatt call --endpoint http://127.0.0.1:8080 --model m --prompt - --json
  perwatt call --endpoint https://host/v1 --model m --prompt Hi --api-key-env MY_KEY --idle-timeout 5s

Times of the record are nanoseconds after dispatch, null where they are not defined. Without a stream the
headers come with the whole answer, so --headers-timeout has to cover all of it.
The exit code is 0 only for a call with the status \`ok\`.`;

/** `perwatt call`: makes one call and prints its record. */
export const callCommand = (io: Io, clock: Clock = runClock): Command =>
  new Command('call')
    .description('Make one call to an OpenAI-compatible server and print what came of it')
    .requiredOption('--endpoint <url>', 'base address of the server, with or without /v1')
    .requiredOption('--model <name>', 'model, as the server knows it')
    .requiredOption('--prompt <text>', 'prompt; `-` reads it from standard input')
    .option('--system <text>', 'system message')
    .option('--max-tokens <n>', 'longest answer, in tokens', wholeFrom(1), 256)
    .option('--temperature <t>', 'sampling temperature; 0 is greedy', between(0, 10), 0)
    .option('--top-p <p>', 'nucleus share', between(0, 1), 1)
    .option('--seed <n>', 'seed of the sampling', wholeFrom(0))
    .addOption(new Option('--api <api>', 'way to ask').choices(['chat', 'completion']).default('chat'))
    .option('--no-stream', 'ask for the answer in one piece')
    .addOption(duration('--idle-timeout', 'longest silence inside the answer', '30s'))
    .addOption(duration('--headers-timeout', 'longest wait for the answer to begin', '60s'))
    .option('--api-key-env <name>', 'environment variable that holds the key')
    .option('--json', 'print the record as JSON')
    .addHelpText('after', examples)
    .action(async (flags: Flags) => {
      const record = await makeCall(flags, io, clock);
      if (flags.json) io.print(JSON.stringify(printable(record)));
      else printForPeople(record, io);
      io.setExitCode(record.status === 'ok' ? 0 : io.signal.aborted ? 130 : 1);
    });

const duration = (flag: string, about: string, fallback: string): Option =>
  new Option(`${flag} <duration>`, about).argParser(parseDuration).default(parseDuration(fallback), fallback);

async function makeCall(flags: Flags, io: Io, clock: Clock): Promise<CallRecord> {
  const apiKey = apiKeyOf(flags, io);
  const input = inputOf(flags, flags.prompt === '-' ? await readText(stdinOf(io)) : flags.prompt);
  const client = openAiClient({
    url: flags.endpoint,
    api: flags.api,
    clock,
    idleTimeoutMs: flags.idleTimeout,
    headersTimeoutMs: flags.headersTimeout,
    ...(apiKey === undefined ? {} : { apiKey }),
  });
  try {
    const { temperature, topP: top_p, maxTokens: max_tokens, seed } = flags;
    const sampling = { temperature, top_p, max_tokens, ...(seed === undefined ? {} : { seed }) };
    return await client.call(
      { model: flags.model, input, sampling, stream: flags.stream },
      { signal: io.signal },
    );
  } finally {
    await client.close();
  }
}

function inputOf({ api, system }: Flags, prompt: string): CallInput {
  if (api === 'completion') {
    if (system !== undefined)
      throw new PerwattError('USAGE', '--system has no place in a completion; use --api chat');
    return { kind: 'completion', prompt };
  }
  const user: Message = { role: 'user', content: prompt };
  return {
    kind: 'chat',
    messages: system === undefined ? [user] : [{ role: 'system', content: system }, user],
  };
}

function apiKeyOf({ apiKeyEnv }: Flags, { env }: Io): string | undefined {
  if (apiKeyEnv === undefined) return undefined;
  const key = env[apiKeyEnv];
  if (key === undefined || key === '')
    throw new PerwattError('USAGE', `the environment variable "${apiKeyEnv}" of --api-key-env is not set`);
  return key;
}

/** A record with its stamps as offsets from dispatch (ns), as JSON can carry them. */
function printable({ stamps, ...record }: CallRecord) {
  const offset = (at: bigint | null) => (at === null ? null : Number(at - stamps.dispatch_ns));
  return {
    ...record,
    socket_ns: offset(stamps.socket_ns),
    sent_ns: offset(stamps.sent_ns),
    headers_ns: offset(stamps.headers_ns),
    first_event_ns: offset(stamps.first_event_ns),
    ttft_any_ns: offset(stamps.first_any_ns),
    ttft_content_ns: offset(stamps.first_content_ns),
    last_content_ns: offset(stamps.last_content_ns),
    done_ns: offset(stamps.done_ns),
    end_ns: offset(stamps.end_ns),
  };
}

function printForPeople(record: CallRecord, io: Io): void {
  const { ttft_any_ns, last_content_ns, end_ns } = printable(record);
  if (record.reasoning !== '') io.print(`[reasoning] ${record.reasoning}`);
  if (record.content !== '') io.print(record.content);
  for (const call of record.tool_calls) io.print(`[tool call] ${call.name}(${call.arguments})`);
  const source = record.token_source === 'events' ? ' (counted by events)' : '';
  const figures = [
    record.status,
    record.finish_reason === null ? null : `finish ${record.finish_reason}`,
    record.usage === null ? null : `${record.usage.prompt_tokens} prompt tokens`,
    record.n_tokens === null ? null : `${record.n_tokens} output tokens${source}`,
    `first token ${milliseconds(ttft_any_ns)}`,
    `last token ${milliseconds(last_content_ns)}`,
    `end ${milliseconds(end_ns)}`,
  ];
  io.print(`— ${figures.filter((figure) => figure !== null).join(' · ')}`);
  if (record.status !== 'ok')
    io.printError(`call failed: ${record.status} (${record.error_kind}): ${record.error_message}`);
}

const milliseconds = (ns: number | null): string => (ns === null ? '–' : `${(ns / 1e6).toFixed(1)} ms`);

function wholeFrom(least: number): (text: string) => number {
  return (text) => {
    if (!/^\d+$/.test(text) || Number(text) < least || !Number.isSafeInteger(Number(text)))
      throw new InvalidArgumentError(`It must be a whole number from ${least}.`);
    return Number(text);
  };
}

function between(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= least && value <= most))
      throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
    return value;
  };
}
