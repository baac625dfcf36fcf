import type { Command } from 'commander';

/**
 * The options of a subcommand, together with those given to it that its parent has too: commander hands these to the
 * parent. Defaults of the parent don't count.
 */
export function optionsOf<T extends object>(self: Command): T {
  const { parent } = self;
  const given = Object.entries(parent?.opts() ?? {}).filter(
    ([name]) => parent?.getOptionValueSource(name) === 'cli',
  );
  return { ...self.opts<T>(), ...Object.fromEntries(given) };
}
