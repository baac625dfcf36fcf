/** Functions written as `\name` or as a plain word. */
export const functionNames: ReadonlySet<string> = new Set([
  ...['sin', 'cos', 'tan', 'cot', 'sec', 'csc', 'sinh', 'cosh', 'tanh', 'coth', 'sech', 'csch'],
  ...['arcsin', 'arccos', 'arctan', 'arccot', 'arcsec', 'arccsc', 'asin', 'acos', 'atan'],
  ...['log', 'ln', 'lg', 'exp', 'min', 'max', 'gcd', 'lcm', 'abs', 'floor', 'ceil'],
]);

/** Names of functions that are another's. */
export const functionAliases: Readonly<Record<string, string>> = {
  asin: 'arcsin',
  acos: 'arccos',
  atan: 'arctan',
};

export const greek: ReadonlySet<string> = new Set(
  'alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell'.split(
    ' ',
  ),
);

/** Commands that only change how things look. */
export const styleCommands: ReadonlySet<string> = new Set(
  'left right big Big bigl bigr Bigl Bigr bigg Bigg biggl biggr Biggl Biggr middle displaystyle textstyle scriptstyle limits nolimits mathstrut rm bf it boldsymbol mathbf mathit mathsf mathcal bm vec hat bar mathop boxed fbox phantom underline nonumber'.split(
    ' ',
  ),
);

/** Commands that are blanks. */
export const blankCommands: ReadonlySet<string> = new Set([
  ',',
  ';',
  ':',
  ' ',
  'quad',
  'qquad',
  'thinspace',
  'enspace',
  '>',
]);

/** Commands that hold words. */
export const textCommands: ReadonlySet<string> = new Set(
  'text textbf textit textrm textsf texttt mbox hbox mathrm operatorname mathtt emph'.split(' '),
);

/** Commands and characters that stand for an operator. */
export const operators: Readonly<Record<string, string>> = {
  cdot: '*',
  times: '*',
  ast: '*',
  '·': '*',
  '×': '*',
  '∗': '*',
  '⋅': '*',
  div: '/',
  '÷': '/',
  '⁄': '/',
  '−': '-',
  pm: '±',
  '±': '±',
  mp: '∓',
  '∓': '∓',
  le: '<=',
  leq: '<=',
  leqslant: '<=',
  '≤': '<=',
  ge: '>=',
  geq: '>=',
  geqslant: '>=',
  '≥': '>=',
  lt: '<',
  gt: '>',
  ne: '!=',
  neq: '!=',
  '≠': '!=',
  approx: '≈',
  thickapprox: '≈',
  '≈': '≈',
  in: 'in',
  '∈': 'in',
  cup: 'cup',
  '∪': 'cup',
  circ: 'deg',
  degree: 'deg',
  '°': 'deg',
  '%': '%',
  prime: "'",
  '’': "'",
  '′': "'",
  mid: '|',
  vert: '|',
  colon: ':',
};

/** Commands that open or close something, by the bracket they are. */
export const brackets: Readonly<Record<string, string>> = {
  '{': '{s',
  '}': '}s',
  lbrace: '{s',
  rbrace: '}s',
  langle: '<(',
  rangle: ')>',
  lfloor: '_(',
  rfloor: ')_',
  lceil: '^(',
  rceil: ')^',
  lbrack: '[',
  rbrack: ']',
  lvert: '|',
  rvert: '|',
};

/** Names that are one symbol, by the name it has here. */
export const symbolNames: Readonly<Record<string, string>> = {
  pi: 'pi',
  π: 'pi',
  infty: 'infinity',
  infinity: 'infinity',
  inf: 'infinity',
  oo: 'infinity',
  '∞': 'infinity',
};

/** Greek letters as characters. */
export const greekLetters: Readonly<Record<string, string>> = {
  α: 'alpha',
  β: 'beta',
  γ: 'gamma',
  δ: 'delta',
  ε: 'epsilon',
  θ: 'theta',
  λ: 'lambda',
  μ: 'mu',
  ρ: 'rho',
  σ: 'sigma',
  τ: 'tau',
  φ: 'phi',
  ϕ: 'phi',
  ω: 'omega',
  Δ: 'Delta',
  Ω: 'Omega',
};

export const vulgar: Readonly<Record<string, readonly [string, string]>> = {
  '½': ['1', '2'],
  '⅓': ['1', '3'],
  '⅔': ['2', '3'],
  '¼': ['1', '4'],
  '¾': ['3', '4'],
  '⅕': ['1', '5'],
  '⅖': ['2', '5'],
  '⅗': ['3', '5'],
  '⅘': ['4', '5'],
  '⅙': ['1', '6'],
  '⅚': ['5', '6'],
  '⅛': ['1', '8'],
  '⅜': ['3', '8'],
  '⅝': ['5', '8'],
  '⅞': ['7', '8'],
};
