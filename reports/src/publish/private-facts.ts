import { addKeys, recordWords } from './record-words.js';

/** What the place that a run is published from says of itself. */
export interface PublishWorld {
  readonly hostname: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What is looked through: the manifest of a run of any kind, and its cells where it has any. */
export interface PrivateRecords {
  readonly manifest: {
    readonly host?: { readonly hostname: string };
    readonly merged?: readonly { readonly host: { readonly hostname: string } }[];
  };
  cells(): readonly unknown[];
}

/** Names and texts that must not leave a run. */
export interface PrivateFacts {
  /** Hosts, the run's own first. */
  readonly hosts: readonly string[];
  readonly users: readonly string[];
  /** Home folders beside the usual places. */
  readonly homes: readonly string[];
  /** Keys, tokens and passwords, letter by letter. */
  readonly secrets: readonly string[];
}

const secretName = /(?:^|[_-])(?:api[_-]?key|key|token|secret|password|passwd|credentials?|authorization)$/i;
const secretFlag = /^--?[\w-]{0,60}(?:key|token|secret|password)$/i;
const envName = /_env$/;
const addressName = /^(?:url|host|endpoint|hostname)$/;
const loopback = /^(?:localhost|127(?:\.\d+){3}|::1|\[::1\]|0\.0\.0\.0)$/i;
const commonUsers = new Set([
  'root',
  'user',
  'admin',
  'ubuntu',
  'debian',
  'node',
  'runner',
  'app',
  'home',
  'shared',
]);
const homeOf = /(?:\/home\/|\/Users\/|[A-Za-z]:\\+Users\\+)([^/\\\s"':;,]+)/g;
const SHORTEST_SECRET = 6;

interface Found {
  readonly hosts: Set<string>;
  readonly users: Set<string>;
  readonly secrets: Set<string>;
}

type Env = PublishWorld['env'];

/**
 * Collects the private facts of a run from its manifest, its cells and the place it is published from: host names, names of
 * users in paths, and values that stand under the names of keys or in the environment variables that the matrix names.
 */
export function privateFactsOf(run: PrivateRecords, { hostname, env }: PublishWorld): PrivateFacts {
  const found: Found = { hosts: new Set(), users: new Set(), secrets: new Set() };
  const { manifest } = run;
  addHost(found, manifest.host?.hostname ?? '');
  for (const { host } of manifest.merged ?? []) addHost(found, host.hostname);
  walk(manifest, '', { found, env });
  for (const cell of run.cells()) walk(cell, '', { found, env });
  addHost(found, hostname);
  for (const name of ['USER', 'LOGNAME', 'USERNAME', 'SUDO_USER']) addUser(found, env[name]);
  const own = new Set(recordWords);
  addKeys(manifest, own);
  const homes = [env['HOME'], env['USERPROFILE']].filter((home) => home !== undefined && home.length > 1);
  for (const home of homes) addUser(found, home?.split(/[\\/]/).at(-1));
  for (const [name, value] of Object.entries(env)) {
    if (secretName.test(name) && value !== undefined && value.length >= 8) found.secrets.add(value);
  }
  const isWord = (name: string) => own.has(name.toLowerCase());
  return {
    hosts: [...found.hosts].filter((host) => !isWord(host)),
    users: [...found.users].filter((user) => !isWord(user)),
    homes: homes.filter((home) => home !== undefined),
    secrets: [...found.secrets],
  };
}

function addHost({ hosts }: Found, name: string): void {
  const host = name.trim().toLowerCase();
  if (host === '' || loopback.test(host)) return;
  hosts.add(host);
}

function addUser({ users }: Found, name: string | undefined): void {
  if (name !== undefined && name.length > 2 && !commonUsers.has(name.toLowerCase())) users.add(name);
}

interface Walk {
  readonly found: Found;
  readonly env: Env;
}

function walk(value: unknown, name: string, world: Walk): void {
  if (typeof value === 'string') look(value, name, world);
  else if (Array.isArray(value)) walkList(value, name, world);
  else if (typeof value === 'object' && value !== null)
    for (const [key, entry] of Object.entries(value)) walk(entry, key, world);
}

/** What follows `--api-key` in a list of arguments is one. */
function walkList(list: readonly unknown[], name: string, world: Walk): void {
  list.forEach((entry, i) => {
    const before = list[i - 1];
    walk(entry, typeof before === 'string' && secretFlag.test(before) ? 'secret' : name, world);
  });
}

function look(text: string, name: string, { found, env }: Walk): void {
  if (secretName.test(name) && text.length >= SHORTEST_SECRET) found.secrets.add(text);
  if (envName.test(name)) {
    const value = env[text];
    if (value !== undefined && value.length >= SHORTEST_SECRET) found.secrets.add(value);
  }
  if (addressName.test(name)) addAddress(found, text);
  for (const [, user] of text.matchAll(homeOf)) addUser(found, user);
}

function addAddress(found: Found, text: string): void {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    if (/^[A-Za-z0-9][A-Za-z0-9.-]{2,252}$/.test(text) && /[.\d-]/.test(text)) addHost(found, text);
    return;
  }
  if (!URL.canParse(text)) return;
  const { hostname, password } = new URL(text);
  addHost(found, hostname);
  if (password.length >= SHORTEST_SECRET) found.secrets.add(decodeURIComponent(password));
}
