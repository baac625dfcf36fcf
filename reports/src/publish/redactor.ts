import { escapeHtml } from '../html.js';
import type { PrivateFacts } from './private-facts.js';

/** How often something was taken out, by kind. */
export interface Redactions {
  readonly hosts: number;
  readonly users: number;
  readonly home_paths: number;
  readonly secrets: number;
}

/** Takes private names and keys out of texts; the same text always comes out the same. */
export interface Redactor {
  readonly change: (text: string) => string;
  /** Only keys, tokens and passwords. */
  readonly withoutSecrets: (text: string) => string;
  /** What was taken out so far; a name that stands in many rows may count once. */
  counts(): Redactions;
}

const GONE = '[redacted]';

/** A shape that only a key has, or what follows a name that says that it is one. */
interface Shape {
  readonly pattern: RegExp;
  readonly by: string;
}

const value = String.raw`(?!-?[\d.]{1,40}(?:e[+-]?\d{1,4})?(?:[\s"',;&}]|$))(?=[^\s"',;&}]{0,200}\d)(?=[^\s"',;&}]{0,200}[A-Za-z])[^\s"',;&}]{8,}`;

const shapes: readonly Shape[] = [
  {
    pattern:
      /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!-)){0,8000}-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
    by: GONE,
  },
  { pattern: /(:\/\/)[^\s/?#@"'<>]{1,400}@/g, by: `$1${GONE}@` },
  { pattern: /([?&][\w-]{0,40}(?:key|token|secret|password|signature)=)[^&\s#"'<>]+/gi, by: `$1${GONE}` },
  {
    pattern: /(\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token)\s{1,4})?)[^\s"',;]{6,}/gi,
    by: `$1${GONE}`,
  },
  { pattern: /(\bbearer\s{1,4})(?=[^\s"',;]{0,200}\d)[A-Za-z0-9._~+/=-]{12,}/gi, by: `$1${GONE}` },
  {
    pattern: /(--?[\w-]{0,40}(?:key|token|secret|password)(?:=|\s{1,4}))(?!\d+(?:\s|$))(?!--)[^\s"']{6,}/gi,
    by: `$1${GONE}`,
  },
  {
    pattern: new RegExp(
      String.raw`((?:api[_-]?key|apikey|access[_-]?key|secret|token|passwd|password|credential)["']?\s{0,4}[:=]\s{0,4}["']?)${value}`,
      'gi',
    ),
    by: `$1${GONE}`,
  },
  { pattern: /\bsk-[A-Za-z0-9_-]{16,}/g, by: GONE },
  { pattern: /\b(?:hf|gsk|npm|glrt)_[A-Za-z0-9]{16,}/g, by: GONE },
  { pattern: /\bgh[pousr]_[A-Za-z0-9]{20,}/g, by: GONE },
  { pattern: /\bgithub_pat_\w{20,}/g, by: GONE },
  { pattern: /\b(?:glpat|nvapi)-[\w-]{16,}/g, by: GONE },
  { pattern: /\bxox[abprs]-[\w-]{10,}/g, by: GONE },
  { pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, by: GONE },
  { pattern: /\bAIza[\w-]{30,}/g, by: GONE },
  { pattern: /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g, by: GONE },
];

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
const longestFirst = (texts: readonly string[]): string[] =>
  [...new Set(texts)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));

/** A pattern that finds the names as words of their own; null for none. */
function wordPattern(names: readonly string[], flags: string): RegExp | null {
  const [first] = names;
  if (first === undefined) return null;
  return new RegExp(`(?<![\\w])(?:${longestFirst(names).map(literal).join('|')})(?![\\w])`, flags);
}

/** A secret in the forms in which it may stand in a text. */
const formsOf = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  escapeHtml(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
];

/** `host-1` for the run's own host, and so on in order; a short name is its long one's. */
function hostNumbers(hosts: readonly string[], keep: ReadonlySet<string>): Map<string, string> {
  const numbers = new Map<string, string>();
  let number = 0;
  for (const host of hosts) {
    if (keep.has(host) || numbers.has(host)) continue;
    number += 1;
    const stands = `host-${number}`;
    numbers.set(host, stands);
    const [short = host] = host.split('.');
    const isAddress = /^[\d.:[\]]+$/.test(host);
    if (!isAddress && short.length > 3 && !numbers.has(short)) numbers.set(short, stands);
  }
  return numbers;
}

/** Makes a redactor of what is private; `keep` names what stays as it is. */
export function createRedactor(facts: PrivateFacts, keep: readonly string[] = []): Redactor {
  const kept = new Set(keep.map((name) => name.toLowerCase()));
  const isKept = (name: string) => kept.has(name.toLowerCase());
  const counts = { hosts: 0, users: 0, home_paths: 0, secrets: 0 };
  const replace = (text: string, pattern: RegExp | null, by: (match: string) => string): string =>
    pattern === null ? text : text.replace(pattern, by);

  const secrets = facts.secrets.filter((secret) => !isKept(secret)).flatMap(formsOf);
  const secretPattern =
    secrets.length === 0 ? null : new RegExp(longestFirst(secrets).map(literal).join('|'), 'g');
  const withoutSecrets = (given: string): string => {
    let text = replace(given, secretPattern, () => GONE);
    for (const { pattern, by } of shapes) text = text.replace(pattern, by);
    if (text !== given) counts.secrets += 1;
    return text;
  };

  const homes = facts.homes.map(literal).join('|');
  const homePattern = new RegExp(
    `${homes === '' ? '' : `(?:${homes})(?![\\w-])|`}(?:\\/home\\/|\\/Users\\/|[A-Za-z]:\\\\+Users\\\\+)[^/\\\\\\s"'\`:;,<>)]+|(?<![\\w./-])\\/root(?![\\w-])`,
    'g',
  );
  const users = wordPattern(
    facts.users.filter((name) => !isKept(name)),
    'g',
  );
  const numbers = hostNumbers(facts.hosts, kept);
  const hosts = wordPattern(
    [...numbers.keys()].filter((name) => name.length > 2),
    'gi',
  );
  const counted = (kind: keyof typeof counts, by: string): string => {
    counts[kind] += 1;
    return by;
  };
  const change = (text: string): string => {
    const host = numbers.get(text.toLowerCase());
    if (host !== undefined) return counted('hosts', host);
    let changed = withoutSecrets(text);
    changed = replace(changed, homePattern, (path) => (isKept(path) ? path : counted('home_paths', '~')));
    changed = replace(changed, hosts, (name) => counted('hosts', numbers.get(name.toLowerCase()) ?? 'host'));
    return replace(changed, users, () => counted('users', 'user'));
  };
  return { change, withoutSecrets, counts: () => ({ ...counts }) };
}
