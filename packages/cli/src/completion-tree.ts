import type { Command, Option } from 'commander';

/** An option as a shell offers it. */
export interface CompletionOption {
  /** `--json`; the short name where there is no long one. */
  readonly name: string;
  readonly about: string;
  /** Whether a value follows. */
  readonly takes: boolean;
  /** Values that it may have; empty where any may be. */
  readonly choices: readonly string[];
}

/** A command, by the words that call it, with what may follow them. */
export interface CompletionNode {
  /** `perwatt datasets pull` */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly CompletionOption[];
  /** Values that an argument may have. */
  readonly choices: readonly string[];
  /** Whether an argument may be anything else, such as a file. */
  readonly files: boolean;
}

const firstSentence = (text: string): string => text.split(/[;.(\n]/)[0]?.trim() ?? '';

const optionOf = ({
  long,
  short,
  description,
  required,
  optional,
  argChoices,
}: Option): CompletionOption => ({
  name: long ?? short ?? '',
  about: firstSentence(description),
  takes: required || optional,
  choices: argChoices ?? [],
});

/** Every command of a tree with what may follow it, the program first. */
export function completionNodes(program: string, commands: readonly Command[]): CompletionNode[] {
  const help: CompletionOption = { name: '--help', about: 'How it is used', takes: false, choices: [] };
  const version: CompletionOption = { name: '--version', about: 'The version', takes: false, choices: [] };
  const verbose: CompletionOption = {
    name: '--verbose',
    about: 'Add the causes of an error',
    takes: false,
    choices: [],
  };
  return [
    {
      path: program,
      commands: commands.map(named),
      options: [verbose, help, version],
      choices: [],
      files: false,
    },
    ...commands.flatMap((command) => nodesOf(program, command, help)),
  ];
}

const named = (command: Command) => ({ name: command.name(), about: firstSentence(command.description()) });

function nodesOf(parent: string, command: Command, help: CompletionOption): CompletionNode[] {
  const path = `${parent} ${command.name()}`;
  const options = [...command.options.filter(({ hidden }) => !hidden).map(optionOf), help];
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const files = command.registeredArguments.some(({ argChoices = [] }) => argChoices.length === 0);
  return [
    { path, commands: command.commands.map(named), options, choices, files },
    ...command.commands.flatMap((sub) => nodesOf(path, sub, help)),
  ];
}
