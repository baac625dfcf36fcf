/** One series of a text exposition, its value as written. */
export interface PrometheusSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

const name = /^[A-Za-z_:][A-Za-z0-9_:]*/;
const label = /^[\s,]*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"/;

/** The sample a line holds; null for comments, blank lines and lines that are none. */
export function prometheusLine(line: string): PrometheusSample | null {
  const text = line.trim();
  const found = name.exec(text);
  if (found === null) return null;
  const labels: Record<string, string> = Object.create(null);
  let rest = text.slice(found[0].length);
  if (rest.startsWith('{')) {
    rest = rest.slice(1);
    for (let part = label.exec(rest); part !== null; part = label.exec(rest)) {
      labels[part[1] ?? ''] = unescaped(part[2] ?? '');
      rest = rest.slice(part[0].length);
    }
    const end = /^[\s,]*\}/.exec(rest);
    if (end === null) return null;
    rest = rest.slice(end[0].length);
  }
  const [value] = rest.trim().split(/\s+/, 1);
  return value === undefined || value === '' ? null : { name: found[0], labels, value };
}

const unescaped = (text: string): string =>
  text.replace(/\\(.)/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));

/** The samples of one metric whose labels include those asked for. */
export function samplesOf(
  text: string,
  metric: string,
  labels: Readonly<Record<string, string>> = {},
): PrometheusSample[] {
  const wanted = Object.entries(labels);
  return text
    .split('\n')
    .filter((line) => line.trimStart().startsWith(metric))
    .map(prometheusLine)
    .filter((sample) => sample !== null)
    .filter(
      (sample) => sample.name === metric && wanted.every(([key, value]) => sample.labels[key] === value),
    );
}
