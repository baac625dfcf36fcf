import { EventEmitter } from 'node:events';
import type { Command } from 'commander';

/** What a command's help says after its options. */
function afterHelp(command: Command): string {
  const parts: string[] = [];
  const write = (text: string) => void parts.push(text);
  if (command instanceof EventEmitter) command.emit('afterHelp', { error: false, command, write });
  return parts.join('');
}

/** The words that call a command: `perwatt datasets pull`. */
export const pathOf = (command: Command): string =>
  [command.parent === null ? [] : [pathOf(command.parent)], command.name()].flat().join(' ');

/** Lines of the parent's examples that call the command. */
function ownExamples(command: Command): string {
  const { parent } = command;
  if (parent === null) return '';
  const call = `  ${pathOf(command)}`;
  const lines = afterHelp(parent)
    .split('\n')
    .filter((line) => line === call || line.startsWith(`${call} `));
  return lines.length === 0 ? '' : `\nExamples:\n${lines.join('\n')}`;
}

const hasText = (command: Command): boolean =>
  command instanceof EventEmitter && command.listenerCount('afterHelp') > 0;

/** Gives each command that has no text after its help those examples of its parent that call it. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    if (!hasText(command)) command.addHelpText('after', () => ownExamples(command));
    addExamples(command);
  }
}
