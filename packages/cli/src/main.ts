import { readFileSync } from 'node:fs';
import { PerwattError } from '@perwatt/core';
import { Command, CommanderError } from 'commander';
import { addExamples } from './help-examples.js';
import type { Io } from './io.js';
import { loadCommands } from './load-commands.js';
import { shapeHelp } from './shape-help.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const stopping = new AbortController();
let exitCode = 0;
const io: Io = {
  print: (line) => process.stdout.write(`${line}\n`),
  printError: (line) => process.stderr.write(`${line}\n`),
  draw: (text) => process.stderr.write(text),
  stdin: process.stdin,
  env: process.env,
  cwd: process.cwd(),
  get columns() {
    return process.stderr.isTTY ? (process.stderr.columns ?? 80) : null;
  },
  wallTime: () => new Date(),
  signal: stopping.signal,
  setExitCode: (code) => {
    exitCode = code;
  },
};

for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    if (stopping.signal.aborted) process.exit(130);
    stopping.abort(new Error(name));
    const overEcho = process.stderr.isTTY ? '\r' : '';
    io.printError(name === 'SIGINT' ? `${overEcho}stopping; press Ctrl-C again to stop at once` : 'stopping');
  });
}
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  io.printError(`error: standard output cannot be written: ${error.message}`);
  process.exit(1);
});
process.stderr.on('error', () => {});

const program = new Command('perwatt')
  .description('Intelligence per watt, measured: accuracy, watts and joules of models on accelerators')
  .version(version)
  .option('--verbose', 'add the causes of an error')
  .addHelpText(
    'after',
    `
Examples:
  perwatt doctor                          what can be measured here, and what would enable the rest
  perwatt run examples/quickstart.yaml    two small models, two data sets, two strategies
  perwatt run --resume runs/<id>          go on after Ctrl-C or a crash
  perwatt report runs/<id>                write the report again

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`,
  )
  .exitOverride();
for (const command of await loadCommands(process.argv.slice(2), { io, version })) program.addCommand(command);
addExamples(program);
shapeHelp(program);
for (const command of withSubcommands(program)) command.exitOverride();

function* withSubcommands(command: Command): Generator<Command> {
  yield command;
  for (const sub of command.commands) yield* withSubcommands(sub);
}

try {
  await program.parseAsync();
} catch (error) {
  exitCode = report(error);
}
process.exitCode = exitCode;

/** Prints what went wrong and returns the exit code: 2 for wrong usage, 130 when told to stop, 1 for any other failure. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (stopping.signal.aborted && error instanceof Error && error.name === 'AbortError') return 130;
  if (!(error instanceof PerwattError)) {
    io.printError(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return 1;
  }
  io.printError(`error[${error.code}]: ${error.message}`);
  io.printError(`hint: ${error.hint}`);
  if (program.opts()['verbose'] && error.cause !== undefined) io.printError(causes(error.cause));
  return error.code === 'USAGE' ? 2 : 1;
}

function causes(cause: unknown): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  const deeper = cause instanceof Error && cause.cause !== undefined ? `\n${causes(cause.cause)}` : '';
  return `caused by: ${text}${deeper}`;
}
