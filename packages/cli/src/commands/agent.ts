import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type EngineHost, messageOf, PerwattError, type PowerSource, systemCode } from '@perwatt/core';
import { parseAllowedEngines } from '@perwatt/harness';
import {
  type BestSourceOptions,
  bestSources,
  bootId,
  clock,
  hostFacts,
  serveAgent,
} from '@perwatt/native-power';
import { Command, InvalidArgumentError } from 'commander';
import { engineHost } from '../engine-host.js';
import type { Io } from '../io.js';
import { powerPlace } from '../power-place.js';

interface Flags {
  readonly host: string;
  readonly port: number;
  readonly tokenEnv?: string;
  readonly source?: readonly string[];
  readonly allowEngines?: string;
  readonly engineLogs: string;
  readonly json?: boolean;
}

const examples = `
Examples:
  perwatt agent                                       on this machine only, with a token made up and printed
  PERWATT_AGENT_TOKEN=… perwatt agent --host 0.0.0.0 --token-env PERWATT_AGENT_TOKEN
  perwatt agent --host 0.0.0.0 --token-env PERWATT_AGENT_TOKEN --allow-engines engines.yaml

Name it in a matrix on another machine:
  power:
    agents:
      - { id: gpu-host, url: 'http://10.0.0.7:7171', token_env: PERWATT_AGENT_TOKEN }

A caller with the token can start what the file of --allow-engines lists, and nothing else: it chooses an entry and one of
the entry's models. Engines end with the agent, and when their caller is gone for half a minute.

What is sent is not encrypted: beyond a network you trust, put it behind an SSH tunnel or a TLS proxy. Ctrl-C ends it.`;

/** `perwatt agent`: this host's facts and power samples over HTTP, until it is told to stop. */
export const agentCommand = (
  io: Io,
  sources: (options: BestSourceOptions) => readonly PowerSource[] = bestSources,
): Command =>
  new Command('agent')
    .description("Serve this host's facts and power samples to a Perwatt on another machine")
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes any free one', port, 7171)
    .option(
      '--token-env <name>',
      'environment variable that holds the token; default: one is made up and printed',
    )
    .option('--source <name...>', 'sources to offer; default: the most trustworthy that can be read')
    .option(
      '--allow-engines <file>',
      'let callers start the engines that this file lists, with the models it lists; default: none',
    )
    .option('--engine-logs <dir>', 'folder of the logs of engines', 'perwatt-engines')
    .option('--json', 'print the address, the token and the sources as JSON')
    .addHelpText('after', examples)
    .action((flags: Flags) => agent(io, sources, flags));

async function agent(
  io: Io,
  sources: (options: BestSourceOptions) => readonly PowerSource[],
  flags: Flags,
): Promise<void> {
  const { host, port, tokenEnv, source: names, json } = flags;
  const place = powerPlace(io);
  const engines = enginesOf(flags, io);
  const given = tokenEnv === undefined ? null : tokenOf(tokenEnv, io);
  const token = given ?? randomBytes(24).toString('base64url');
  const served = await serveAgent({
    host,
    port,
    token,
    sources: sources({ ...place, ...(names && { names }) }),
    hostname: hostname(),
    bootId: bootId(),
    facts: { ...hostFacts(place.root) },
    clock,
    ...(engines === null ? {} : { engines }),
  });
  const offered = served.sources.map(({ name, domains }) => ({ name, domains: domains.map(({ id }) => id) }));
  if (json) {
    io.print(
      JSON.stringify({
        url: served.url,
        pid: process.pid,
        ...(given === null && { token }),
        sources: offered,
      }),
    );
  } else {
    io.print(`serving ${offered.map(({ name }) => name).join(', ')} at ${served.url}; Ctrl-C ends it`);
    if (given === null) io.print(`token: ${token}`);
  }
  await aborted(io.signal);
  await served.close();
}

/** Null unless the person who starts the agent allows engines by a file. */
function enginesOf({ allowEngines, engineLogs }: Flags, io: Io): EngineHost | null {
  if (allowEngines === undefined) return null;
  const path = resolve(io.cwd, allowEngines);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new PerwattError(
      'FILE_UNREADABLE',
      `cannot read ${path}: ${systemCode(cause) ?? messageOf(cause)}`,
      { cause },
    );
  }
  return engineHost({
    allowed: parseAllowedEngines(text, allowEngines),
    env: io.env,
    cwd: io.cwd,
    log_folder: resolve(io.cwd, engineLogs),
    clock,
    onEvent: (line) => io.printError(line),
  });
}

function tokenOf(name: string, io: Io): string {
  const token = io.env[name];
  if (token !== undefined && token !== '') return token;
  throw new PerwattError('INPUT_INVALID', `environment variable ${name} holds no token`, {
    hint: 'Set it to the token that callers are to send, or leave `--token-env` out.',
  });
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function port(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= 65_535) return value;
  throw new InvalidArgumentError('must be a whole number from 0 to 65535');
}
