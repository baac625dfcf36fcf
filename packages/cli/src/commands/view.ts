import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { createRunWatch, startViewServer } from '@perwatt/reports';
import { Command, InvalidArgumentError } from 'commander';
import type { Io } from '../io.js';

interface ViewFlags {
  readonly port: number;
  readonly every: number;
  readonly json?: boolean;
}

const help = `
Shows live power, tokens per second, progress and partial results of a run that goes on, or was stopped, in a page that only
this machine can open: the address holds a random token. Reads only, never texts, and each byte once; the page tells how many
bytes were read. While nobody looks at the page, nothing is read. Ctrl-C ends it; the run goes on.

On a machine whose own power is measured, looking costs a little of it: well under 2 % of a core.

Examples:
  perwatt view runs/<id>
  perwatt view runs/<id> --port 8080
  perwatt view runs/<id> --json`;

/** `perwatt view`: a run while it goes on. */
export const viewCommand = (io: Io): Command =>
  new Command('view')
    .description('Show a run while it goes on: power, tokens per second, progress, partial results')
    .argument('<run>', 'run folder')
    .option('--port <n>', 'port on the loopback interface; 0 takes any free one', portNumber, 0)
    .option('--every <seconds>', 'time between looks, s', seconds, 1)
    .option('--json', 'print how the run stands once, as JSON, and end')
    .addHelpText('after', help)
    .action(async (path: string, flags: ViewFlags) => {
      const watch = createRunWatch(resolve(io.cwd, path));
      if (flags.json) {
        let state = watch.look();
        while (state.behind && !io.signal.aborted) state = watch.look();
        io.print(JSON.stringify(state));
        return;
      }
      const token = randomBytes(16).toString('hex');
      const server = await startViewServer({ watch, token, port: flags.port, period_ms: flags.every * 1000 });
      io.print(`${server.url}`);
      io.printError('Ctrl-C ends the view; the run goes on');
      await stopped(io.signal);
      await server.close();
    });

const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });

function portNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535)
    throw new InvalidArgumentError('give a port from 0 to 65535');
  return value;
}

function seconds(text: string): number {
  const value = Number(text);
  if (!(value >= 0.1 && value <= 3600)) throw new InvalidArgumentError('give a time from 0.1 to 3600');
  return value;
}
