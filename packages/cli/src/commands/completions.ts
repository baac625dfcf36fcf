import { Argument, Command } from 'commander';
import { completionScript, type Shell, shells } from '../completion-scripts.js';
import { completionNodes } from '../completion-tree.js';
import type { Io } from '../io.js';

const help = `
The script knows every command, its options and their values; run it again after an update.

Examples:
  perwatt completions bash > ~/.local/share/bash-completion/completions/perwatt
  perwatt completions zsh > "\${fpath[1]}/_perwatt"
  perwatt completions fish > ~/.config/fish/completions/perwatt.fish
  source <(perwatt completions bash)`;

/** `perwatt completions`: the script that teaches a shell our commands. `commands` gives all there are. */
export const completionsCommand = (io: Io, commands: () => Promise<readonly Command[]>): Command =>
  new Command('completions')
    .description('Print the script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'which shell').choices([...shells]))
    .addHelpText('after', help)
    .action(async (shell: Shell) => {
      io.print(completionScript(shell, completionNodes('perwatt', await commands())).trimEnd());
    });
