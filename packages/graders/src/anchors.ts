/** A phrase that announces the final answer, and where what it announces begins. */
export interface Anchor {
  readonly start: number;
  /** Just behind the phrase, its connective and filler words; wrappers and blanks are still to be skipped. */
  readonly end: number;
  /** `Answer: …` and `answer is …` with nothing between: what prompts usually demand. */
  readonly direct: boolean;
}

export type AnchorWords = 'answers' | 'answers-and-options';

const NOUN =
  /(?<!\b(?:each|every|any|other|another|next|this|that|an?|no) )\b(?:answer|option|choice|letter|result)\b/gi;
const CONNECTIVE = '(?::|=|→|->|(?:is|are|would be|should be|must be|will be|was|equals)\\b)';
const CLOSERS = '[*_`"\'”\\])}]{0,6}';
const DIRECT = new RegExp(`^${CLOSERS}[ \\t]{0,4}(?:${CONNECTIVE}|[-–—](?=[ \\t]))`, 'i');
const GAP_WORD = "(?!(?:not|isn't|wrong|incorrect)\\b)(?:[A-Za-z'’-]{2,20}|a)";
const SPACED = new RegExp(`^${CLOSERS},?[ \\t](?:${GAP_WORD},?[ \\t]){1,8}?${CONNECTIVE}`, 'i');
const FILLERS =
  /^[ \t*_`}]{0,6}:?[ \t*_`}]{0,6}(?:[ \t]{0,4}(?:therefore|thus|hence|clearly|likely|most|probably|indeed|then|definitely|actually|still|simply|just|option|choice|letter|number|the|correct|best|right|answer)\b[,:*_`]{0,4}){0,5}/i;
const VERB = /\b(?:select|choose|pick|chose|picked|selected|go(?:ing)? with)\b/gi;

/** Places looked at from the wanted end of a text; more of them is no answer but noise. */
const MAX_PLACES = 500;

/**
 * The anchors of a prepared text, in order of their ends; of very many only the last (or first) ones. Linear: each looks at
 * a bounded piece of text.
 */
export function findAnchors(text: string, words: AnchorWords, side: 'last' | 'first' = 'last'): Anchor[] {
  const most = <T>(all: Iterable<T>): T[] => {
    const list = [...all];
    return side === 'last' ? list.slice(-MAX_PLACES) : list.slice(0, MAX_PLACES);
  };
  const anchors: Anchor[] = [];
  for (const noun of most(text.matchAll(NOUN))) {
    const anchor = continueNoun(text, noun.index, noun.index + noun[0].length);
    if (anchor !== null && isWanted(noun[0].toLowerCase(), words)) anchors.push(anchor);
  }
  for (const word of most(text.matchAll(FOREIGN))) anchors.push(plain(word));
  if (words === 'answers') for (const mark of most(text.matchAll(SHORT))) anchors.push(plain(mark));
  else for (const verb of most(text.matchAll(VERB))) anchors.push(filled(text, plain(verb)));
  return anchors.sort((a, b) => a.end - b.end);
}

const SHORT = /^[ \t]{0,8}[*_]{0,2}A[*_]{0,2}:/gm;

const plain = (match: RegExpExecArray): Anchor => ({
  start: match.index,
  end: match.index + match[0].length,
  direct: false,
});

const isWanted = (noun: string, words: AnchorWords) =>
  words === 'answers' ? noun === 'answer' || noun === 'result' : noun !== 'result';

function continueNoun(text: string, start: number, end: number): Anchor | null {
  const after = text.slice(end, end + 160);
  const direct = DIRECT.exec(after);
  const match = direct ?? SPACED.exec(after);
  if (match === null) return null;
  const anchor = { start, end: end + match[0].length, direct: direct !== null };
  const behind = filled(text, anchor);
  const bare = /^[\s:*_`}]*$/.test(text.slice(anchor.end, behind.end));
  const demanded = /^answer[^a-z]*(?:is|:)$/i.test(text.slice(start, anchor.end));
  return { ...behind, direct: demanded && bare };
}

function filled(text: string, anchor: Anchor): Anchor {
  const fillers = FILLERS.exec(text.slice(anchor.end, anchor.end + 120));
  return { ...anchor, end: anchor.end + (fillers?.[0].length ?? 0) };
}

const FOREIGN_WORDS = [
  'Antwort',
  'Lösung',
  'Respuesta',
  'Risposta',
  'Réponse',
  'Resposta',
  'Jawaban',
  'Jibu',
  'Idahun',
  'Ìdáhùn',
  'Idáhùn',
  'Àmọ̀nà',
  'Àdáhùn',
  'Ànúgọ',
  'Àṣàyàn',
  '답변',
  '정답',
  '답',
  '答え',
  '回答',
  '解答',
  '答复',
  '答曰',
  'উত্তরঃ',
  'উত্তর',
  'उत्तर',
  'الإجابة النهائية',
  'الإجابة الصحيحة',
  'الجواب النهائي',
  'الإجابة',
  'الجواب',
  'إجابة',
] as const;
const COPULA = '(?::|=|은|는|は|ist\\b|es\\b|è(?= )|est\\b|é(?= )|adalah\\b|ni\\b|है|هي|هو)';
const FOREIGN = new RegExp(
  `(?<!\\p{L})(?:${FOREIGN_WORDS.join('|')})[*_]{0,2}[ \\t]{0,4}${COPULA}[ \\t]{0,4}:?|答案?(?:选项)?(?:应该|应当|应)?(?:是|为|選|选|:)[ \\t]{0,4}:?|(?:故|应|因此|所以)(?:本题)?选(?:择)?|(?:因此|所以)(?=(?:选项)?[ \\t]?[A-Z](?![A-Za-z]))`,
  'giu',
);

/** End of the clause or line that starts at `at`: a newline, or a sentence mark followed by a blank or the end. */
export function clauseEnd(text: string, at: number): number {
  const slice = text.slice(at, at + 400);
  const end = slice.search(/\n|[.!?](?=\s|$)|[。！？]/);
  return end === -1 ? at + slice.length : at + end;
}

const CLAUSE_BREAK = /[.!?,;:\n。，；]|\b(?:but|so|thus|hence|then|therefore|because|as|since|and)\b/gi;
const NEGATION = /\b(?:not|isn't|wrong|incorrect|rule out|ruled out|eliminate|eliminated)\b/i;

/** Whether the clause that leads up to `labelAt` denies it, or a predicate right behind `labelEnd` does. */
export function isDenied(
  text: string,
  anchor: Anchor,
  label: { readonly start: number; readonly end: number },
): boolean {
  const lead = text.slice(Math.max(0, anchor.start - 60), anchor.start);
  const breaks = [...lead.matchAll(CLAUSE_BREAK)].at(-1);
  const clause = breaks === undefined ? lead : lead.slice(breaks.index + breaks[0].length);
  const within = text.slice(anchor.start, label.start);
  const behind = /^[*_`"')\]]{0,4}[ \t](?:is|was|are)[ \t](?:not|incorrect|wrong)\b/i;
  return NEGATION.test(clause) || NEGATION.test(within) || behind.test(text.slice(label.end, label.end + 24));
}
