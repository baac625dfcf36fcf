/** What stands in the last `\boxed{}` or `\fbox{}` of a LaTeX text, braces matched; null when there is none that closes. */
export function lastBox(text: string): string | null {
  const at = Math.max(text.lastIndexOf('\\boxed'), text.lastIndexOf('\\fbox'));
  if (at === -1) return null;
  const open = text.indexOf('{', at);
  if (open === -1 || !/^\\[a-z]+ ?$/.test(text.slice(at, open))) return bareBox(text.slice(at));
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === '{') depth += 1;
    else if (text[i] === '}') depth -= 1;
    if (depth === 0) return text.slice(open + 1, i);
  }
  return null;
}

/** A box without braces, `\boxed 5`: up to the end of the formula. */
const bareBox = (text: string): string | null =>
  /^\\[a-z]+ (?<value>[^$]*[^$\s])/.exec(text)?.groups?.['value'] ?? null;
