import type { Command } from 'commander';

/** Gives every command's help the options of the program; those of a parent command mean nothing to its subcommands, and stay out. */
export function shapeHelp(program: Command): void {
  const shape = (command: Command): void => {
    command.configureHelp({
      showGlobalOptions: true,
      visibleGlobalOptions: (own) => (own.parent === null ? [] : [...program.options]),
    });
    for (const sub of command.commands) shape(sub);
  };
  shape(program);
}
