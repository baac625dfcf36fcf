import { pointAxes, provenances, scopes, tables } from '@perwatt/core';

/** Words that records are made of: as the name of a host or user they tell nothing, and taken out they would spoil the records. */
export const recordWords: ReadonlySet<string> = new Set([
  ...provenances,
  ...scopes,
  ...pointAxes,
  ...Object.keys(tables),
  ...Object.values(tables).flatMap((table) => Object.keys(table)),
  ...[
    'planned',
    'running',
    'done',
    'failed',
    'interrupted',
    'open',
    'closed',
    'crashed',
    'valid',
    'flagged',
    'invalid',
  ],
  ...[
    'counter',
    'gauge',
    'estimate',
    'quick',
    'standard',
    'strict',
    'http',
    'embedded',
    'correct',
    'incorrect',
    'unparsed',
  ],
  ...[
    'truncated',
    'empty',
    'refused',
    'error',
    'unscored',
    'answered',
    'abstained',
    'isolated',
    'measure',
    'warmup',
    'stop',
  ],
  ...[
    'host',
    'linux',
    'ubuntu',
    'debian',
    'default',
    'none',
    'cpu',
    'gpu',
    'npu',
    'soc',
    'server',
    'main',
    'robust',
    'official',
  ],
]);
/** Keys that are names somebody gave, not words of ours. */
const givenKeys: ReadonlySet<string> = new Set([
  'endpoints',
  'engines',
  'env',
  'labels',
  'bind',
  'bound',
  'models',
  'accelerators',
  'datasets',
]);

const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Adds the keys of a tree that are words of ours. */
export function addKeys(value: unknown, into: Set<string>): void {
  if (Array.isArray(value)) for (const entry of value) addKeys(entry, into);
  else if (isTree(value)) {
    for (const [key, entry] of Object.entries(value)) {
      into.add(key.toLowerCase());
      addKeys(givenKeys.has(key) && isTree(entry) ? Object.values(entry) : entry, into);
    }
  }
}
