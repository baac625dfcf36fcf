import { messageOf, PerwattError, type PowerCap } from '@perwatt/core';
import type { CellCapFacts, PowerCapFacts } from '@perwatt/records';
import type { Commands } from './deps.js';

/** Sets the power limit that each cell asks for, by the user's own commands, and puts things back in the end. */
export interface PowerCaps {
  /**
   * Sets the limit of a cell and reads it back; a cell without one runs under the limit of before. Null where there is none.
   * Throws `POWER_CAP_FAILED` when a command fails or another limit is read back.
   */
  apply(watts: number | null): Promise<CellCapFacts | null>;
  /** The limit now, W; null where it can't be read. */
  readNow(): Promise<number | null>;
  /** Puts the limit of before back, where it was touched. Never throws: what went wrong is noted. Safe to call twice. */
  restore(): Promise<void>;
}

export interface PowerCapOptions {
  readonly cap: PowerCap | undefined;
  readonly commands: Commands | undefined;
  readonly wait: (seconds: number) => Promise<void>;
  /** What an earlier, killed start of the run left. */
  readonly earlier: PowerCapFacts | undefined;
  /** Told whenever the facts change, before a limit is touched. */
  readonly note: (facts: PowerCapFacts) => void;
}

const failed = (message: string) => new PerwattError('POWER_CAP_FAILED', message);

const none: PowerCaps = {
  async apply(watts) {
    if (watts !== null)
      throw failed(`a limit of ${watts} W is asked for, but the matrix has no \`power_cap\``);
    return null;
  },
  readNow: async () => null,
  restore: async () => {},
};

export function createPowerCaps(options: PowerCapOptions): PowerCaps {
  const { cap, wait, note } = options;
  if (cap === undefined) return none;
  const limit = limitCommands(cap, options.commands);
  let facts: PowerCapFacts | null = options.earlier ?? null;
  let current_w: number | null = null;
  let forgetExit = () => {};
  const told = (next: PowerCapFacts) => {
    facts = next;
    note(next);
  };
  const restore = async () => {
    if (facts === null || facts.state === 'restored') return;
    const { before_w } = facts;
    current_w = null;
    try {
      await limit.restore(before_w);
      const after_w = await limit.read().catch(() => null);
      told({ before_w, state: 'restored', after_w, problem: null });
    } catch (error) {
      told({ before_w, state: 'not_restored', after_w: null, problem: messageOf(error) });
    }
    forgetExit();
    forgetExit = () => {};
  };
  const touch = async () => {
    if (facts !== null && facts.state !== 'restored') return;
    const before_w = await limit.read();
    told({ before_w, state: 'set', after_w: null, problem: null });
    forgetExit = limit.restoreAtExit(before_w);
  };
  return {
    restore,
    readNow: () => limit.read().catch(() => null),
    async apply(watts) {
      if (watts === null) {
        await restore();
        if (facts?.state === 'not_restored')
          throw failed(`the power limit was not put back: ${facts.problem}`);
        return null;
      }
      await touch();
      if (current_w !== watts) {
        current_w = null;
        await limit.set(watts);
        await wait(cap.settle_s);
      }
      const read_w = await limit.read();
      if (Math.abs(read_w - watts) > cap.tolerance_w)
        throw failed(`a power limit of ${watts} W was set, but ${read_w} W was read back`);
      current_w = watts;
      return { asked_w: watts, read_w, after_w: null, tolerance_w: cap.tolerance_w };
    },
  };
}

/** The user's commands, with the watts filled in. */
function limitCommands(cap: PowerCap, commands: Commands | undefined) {
  const run = async (argv: readonly string[]): Promise<string> => {
    if (commands === undefined) throw failed('nothing here can run the commands of `power_cap`');
    const { exit_code, stdout, stderr } = await commands.run(argv, { timeout_ms: cap.timeout_s * 1000 });
    if (exit_code === 0) return stdout;
    const why = stderr.trim().split('\n').at(-1) ?? '';
    const how = exit_code === null ? `did not end within ${cap.timeout_s} s` : `ended with ${exit_code}`;
    throw failed(`${argv.join(' ')} ${how}${why === '' ? '' : `: ${why.slice(0, 300)}`}`);
  };
  return {
    set: (watts: number) => run(filled(cap.set, watts)),
    restore: (watts: number) => run(filled(cap.restore, watts)),
    restoreAtExit: (watts: number) => commands?.atExit(filled(cap.restore, watts)) ?? (() => {}),
    async read(): Promise<number> {
      const out = await run(cap.read);
      const [found] = /\d+(\.\d+)?/.exec(out) ?? [];
      if (found !== undefined) return Number(found);
      throw failed(`${cap.read.join(' ')} printed no number: ${JSON.stringify(out.trim().slice(0, 100))}`);
    },
  };
}

const filled = (argv: readonly string[], watts: number): string[] =>
  argv.map((word) => word.replaceAll('{watts}', String(watts)));
