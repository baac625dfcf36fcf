import type { Grid } from '../compare/grid.js';

const signs: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  _: '\\_',
  '%': '\\%',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '"': '\\textquotedbl{}',
  '–': '--',
  '…': '\\ldots{}',
  '×': '$\\times$',
  µ: '\\textmu{}',
  '†': '\\dag{}',
  '°': '\\textdegree{}',
};

/** Text as LaTeX sets it: nothing in it is a command. Control characters and direction marks become blanks. */
export const latexText = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, ' ').replace(/[\\{}$&#_%~^<>|"–…×µ†°]/g, (sign) => signs[sign] ?? sign);

export interface LatexTable {
  readonly caption: string;
  /** For `\ref`: letters, digits, `:` and `-`. */
  readonly label: string;
  readonly notes: readonly string[];
}

/** The grid as a LaTeX table in the manner of `booktabs`, ready for `\input`. Ends in a newline. */
export function latexTable({ columns, rows }: Grid, { caption, label, notes }: LatexTable): string {
  const line = (texts: readonly string[]) => `    ${texts.map(latexText).join(' & ')} \\\\`;
  return [
    '% \\usepackage{booktabs}',
    '\\begin{table}',
    '  \\centering',
    `  \\caption{${latexText(caption)}}`,
    `  \\label{${label.replace(/[^A-Za-z0-9:-]/g, '-')}}`,
    `  \\begin{tabular}{${columns.map(({ right }) => (right ? 'r' : 'l')).join('')}}`,
    '    \\toprule',
    line(columns.map(({ name }) => name)),
    '    \\midrule',
    ...rows.map(line),
    '    \\bottomrule',
    '  \\end{tabular}',
    ...notes.map((note) => `  \\par\\smallskip{\\footnotesize ${latexText(note)}}`),
    '\\end{table}',
    '',
  ].join('\n');
}
