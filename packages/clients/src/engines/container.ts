import type { LaunchedEntry } from '@perwatt/core';
import type { EngineCommand } from './engine-command.js';
import { runTool } from './run-tool.js';

type Container = NonNullable<LaunchedEntry['container']>;

/** The command as the container runtime's, on the host's network, its environment handed in. */
export function inContainer(command: EngineCommand, container: Container, name: string): EngineCommand {
  const { runtime, image, args } = container;
  const [program = '', ...rest] = command.argv;
  const env = Object.entries(command.env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
  return {
    ...command,
    argv: [
      ...[runtime, 'run', '--rm', '--name', name, '--network', 'host', ...env, ...args],
      ...['--entrypoint', program, image, ...rest],
    ],
    env: {},
  };
}

/** What removes a container that outlived its command. */
export const removal = ({ runtime }: Container, name: string): readonly string[] => [
  runtime,
  'rm',
  '--force',
  name,
];

/** Digest of the image in its registry, or its id where it was never in one; null where the runtime does not tell. */
export async function imageDigest(
  { runtime, image }: Container,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  const format = '{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}';
  const said = await runTool([runtime, 'image', 'inspect', '--format', format, image], { env });
  const text = said.code === 0 ? said.output.trim() : '';
  return text.split('@').at(-1) || null;
}
