import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { PerwattError, type PowerSource } from '@perwatt/core';
import {
  type BestSourceOptions,
  bestSources,
  bootId,
  clock,
  hostFacts,
  serveAgent,
} from '@perwatt/native-power';
import { Command, InvalidArgumentError } from 'commander';
import type { Io } from '../io.js';
import { powerPlace } from '../power-place.js';

interface Flags {
  readonly host: string;
  readonly port: number;
  readonly tokenEnv?: string;
  readonly source?: readonly string[];
  readonly json?: boolean;
}

const examples = `
Examples:
  perwatt agent                                       on this machine only, with a token made up and printed
  PERWATT_AGENT_TOKEN=… perwatt agent --host 0.0.0.0 --token-env PERWATT_AGENT_TOKEN

Name it in a matrix on another machine:
  power:
    agents:
      - { id: gpu-host, url: 'http://10.0.0.7:7171', token_env: PERWATT_AGENT_TOKEN }

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
    .option('--json', 'print the address, the token and the sources as JSON')
    .addHelpText('after', examples)
    .action((flags: Flags) => agent(io, sources, flags));

async function agent(
  io: Io,
  sources: (options: BestSourceOptions) => readonly PowerSource[],
  { host, port, tokenEnv, source: names, json }: Flags,
): Promise<void> {
  const place = powerPlace(io);
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
