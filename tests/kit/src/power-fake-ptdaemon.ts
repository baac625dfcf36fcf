import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

export interface FakePtdaemonOptions {
  readonly port?: number;
  /** Watts of the next sample; −1 for one that the meter lacks. */
  readonly watts?: () => number;
  /** Watts of every channel. */
  readonly channels?: readonly (() => number)[];
  /** Wall clock of the meter's host, ms since 1970. */
  readonly wallMs: () => number;
  /** What `RR` is answered with. */
  readonly ranges?: string;
  /** The spelling of the command for samples that this daemon knows. */
  readonly spelling?: 'RL,*,*' | 'RL' | 'DC-RL';
  readonly hello?: string;
  readonly end?: '\n' | '\r\n';
}

export interface FakePtdaemon {
  readonly port: number;
  /** Every command that came, in order. */
  readonly commands: readonly string[];
  /** Ranges as they stand. */
  ranges(): string;
  /** Cuts every connection, as a daemon that is killed. */
  cut(): void;
  close(): Promise<void>;
}

/** A PTDaemon on loopback that samples a made-up meter. */
export async function fakePtdaemon(options: FakePtdaemonOptions): Promise<FakePtdaemon> {
  const commands: string[] = [];
  const sockets = new Set<Socket>();
  const state = {
    measuring: null as null | { interval: number; taken: number; mark: string },
    ranges: options.ranges ?? 'Ranges,0,5.0,1,300.0',
  };
  const answers: Record<string, (args: string[], command: string) => string[]> = {
    Hello: () => [options.hello ?? 'Hello, PTDaemon here!'],
    Identify: () => ['WT333E,fake,1.0'],
    RR: () => [state.ranges],
    SR: (args) => [setRange(args)],
    Go: (args) => [go(args)],
    Stop: () => [stop()],
    RL: (_, command) => samples(command),
    'DC-RL': (_, command) => samples(command),
  };
  const answer = (command: string): string[] => {
    commands.push(command);
    const [word = '', ...args] = command.split(',');
    return answers[word]?.(args, command) ?? ['Error: Unknown command'];
  };
  const setRange = ([which = '', range = '']: string[]) => {
    const parts = state.ranges.split(',');
    const at = which === 'A' ? 1 : 3;
    parts.splice(at, 2, range === 'Auto' ? '1' : '0', range === 'Auto' ? '-1.0' : range);
    state.ranges = parts.join(',');
    return `Range ${which} changed`;
  };
  const go = ([interval = '1000', , mark = '']: string[]) => {
    state.measuring = { interval: Number(interval), taken: options.wallMs(), mark };
    return `Starting untimed measurement, maximum 500000 samples at ${interval}ms with 0 rampup samples`;
  };
  const stop = () => {
    const known = state.measuring !== null;
    state.measuring = null;
    return known ? 'Stopping untimed measurement' : 'Error: no measurement to stop';
  };
  const samples = (command: string): string[] => {
    const spelling = options.spelling ?? 'RL,*,*';
    if (command !== spelling) {
      return [spelling === 'RL' ? 'Error: Invalid number of parameters' : 'Error: Unknown command'];
    }
    const lines: string[] = [];
    const run = state.measuring;
    while (run !== null && run.taken + run.interval <= options.wallMs()) {
      run.taken += run.interval;
      lines.push(sampleLine(run.taken, run.mark, options));
    }
    return [`Last ${lines.length} samples`, ...lines];
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    let text = '';
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const lines = (text + bytes.toString()).split('\r\n');
      text = lines.pop() ?? '';
      const end = options.end ?? '\r\n';
      for (const line of lines)
        socket.write(
          answer(line)
            .map((reply) => reply + end)
            .join(''),
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    ranges: () => state.ranges,
    cut,
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** One line of samples, as the daemon writes it. */
function sampleLine(
  wall_ms: number,
  mark: string,
  { watts = () => 100, channels = [] }: FakePtdaemonOptions,
) {
  const [date, time] = new Date(wall_ms).toISOString().replace('Z', '').split('T') as [string, string];
  const [year, month, day] = date.split('-');
  const values = (power: number) => `Watts,${power.toFixed(3)},Volts,230.0,Amps,0.5,PF,0.9`;
  const parts = channels.map((power, i) => `,Ch${i + 1},${values(power())}`);
  return `Time,${month}-${day}-${year} ${time},${values(watts())},Mark,${mark}${parts.join('')}`;
}
