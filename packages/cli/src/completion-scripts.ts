import type { CompletionNode } from './completion-tree.js';

/** Shells that there are completions for. */
export const shells = ['bash', 'zsh', 'fish'] as const;
/** One of `shells`. */
export type Shell = (typeof shells)[number];

/** A text in single quotes, for bash and zsh. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const subcommands = (nodes: readonly CompletionNode[]): string[] =>
  nodes.flatMap(({ path, commands }) => commands.map(({ name }) => `${path} ${name}`));

/** Options of a value among some, by `<path> <option>`. */
const chosen = (nodes: readonly CompletionNode[]) =>
  nodes.flatMap(({ path, options }) =>
    options
      .filter(({ choices }) => choices.length > 0)
      .map(({ name, choices }) => ({ at: `${path} ${name}`, choices })),
  );

/** Options of any value, by `<path> <option>`: what follows them is a file, if anything is known of it. */
const openOptions = (nodes: readonly CompletionNode[]): string[] =>
  nodes.flatMap(({ path, options }) =>
    options
      .filter(({ takes, choices }) => takes && choices.length === 0)
      .map(({ name }) => `${path} ${name}`),
  );

const wordsOf = ({ commands, options, choices }: CompletionNode): string[] => [
  ...commands.map(({ name }) => name),
  ...choices,
  ...options.map(({ name }) => name),
];

function bashScript(nodes: readonly CompletionNode[]): string {
  return `# Completions of perwatt for bash.
_perwatt() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at=perwatt words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${subcommands(nodes).map(quoted).join('|')}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $prev" in
${chosen(nodes)
  .map(
    ({ at, choices }) =>
      `    ${quoted(at)}) COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur")); return ;;`,
  )
  .join('\n')}
    ${openOptions(nodes).map(quoted).join('|')}) COMPREPLY=(); return ;;
  esac
  case "$at" in
${nodes.map((node) => `    ${quoted(node.path)}) words=${quoted(wordsOf(node).join(' '))} ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -o bashdefault -F _perwatt perwatt
`;
}

/** An entry of zsh's \`_describe\`: a colon parts a name from its description. */
const described = (name: string, about: string): string =>
  quoted(`${name.replaceAll(':', '\\:')}:${about.replaceAll(':', '\\:')}`);

function zshScript(nodes: readonly CompletionNode[]): string {
  const cases = nodes.map(({ path, commands, options, choices, files }) => {
    const first = [
      ...commands.map(({ name, about }) => described(name, about)),
      ...choices.map((name) => described(name, '')),
    ];
    const flags = options.map(({ name, about }) => described(name, about));
    return `    ${quoted(path)})
      commands=(${first.join(' ')})
      options=(${flags.join(' ')})${files ? ' files=1' : ''} ;;`;
  });
  return `#compdef perwatt
# Completions of perwatt for zsh.
_perwatt() {
  local at=perwatt word files=0 ret=1
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${subcommands(nodes).map(quoted).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${chosen(nodes)
  .map(({ at, choices }) => `    ${quoted(at)}) compadd -- ${choices.map(quoted).join(' ')}; return ;;`)
  .join('\n')}
    ${openOptions(nodes).map(quoted).join('|')}) _files; return ;;
  esac
  case "$at" in
${cases.join('\n')}
  esac
  [[ \${#commands} -gt 0 ]] && _describe -t commands command commands && ret=0
  _describe -o -t options option options && ret=0
  (( files )) && _files && ret=0
  return ret
}
if [[ "\${funcstack[1]}" = _perwatt ]]; then _perwatt "$@"; else compdef _perwatt perwatt; fi
`;
}

function fishScript(nodes: readonly CompletionNode[]): string {
  const lines = nodes.flatMap(({ path, commands, options, choices, files }) => {
    const at = `complete -c perwatt -n ${fishQuoted(`__perwatt_at ${fishQuoted(path)}`)}`;
    return [
      ...(files ? [] : [`${at} -f`]),
      ...commands.map(({ name, about }) => `${at} -a ${fishQuoted(name)} -d ${fishQuoted(about)}`),
      ...choices.map((name) => `${at} -a ${fishQuoted(name)}`),
      ...options.map(({ name, about, takes, choices: values }) => {
        const flag = name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`;
        const value = values.length > 0 ? ` -x -a ${fishQuoted(values.join(' '))}` : takes ? ' -r' : '';
        return `${at} ${flag}${value} -d ${fishQuoted(about)}`;
      }),
    ];
  });
  return `# Completions of perwatt for fish.
function __perwatt_at
  set -l at perwatt
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${subcommands(nodes).map(fishQuoted).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

const scripts: Readonly<Record<Shell, (nodes: readonly CompletionNode[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The script that teaches a shell the commands and options of `nodes`. */
export const completionScript = (shell: Shell, nodes: readonly CompletionNode[]): string =>
  scripts[shell](nodes);
