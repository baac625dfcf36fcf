import { closest } from '@perwatt/core';
import type { AmbiguousName, CatalogueAccelerator, CatalogueModel } from './catalogue-schema.js';
import type { Catalogue } from './load-catalogue.js';

/** What a name means. `entry` is null with a reason where that can't be told: nothing is guessed. */
export interface Found<E> {
  readonly entry: E | null;
  /** How it was found. */
  readonly by: 'id' | 'repository' | 'alias' | 'name' | null;
  readonly reason: string | null;
  /** Ids that may have been meant, for a message. */
  readonly near: readonly string[];
}

interface Named {
  readonly id: string;
  readonly aliases: readonly string[];
  readonly hf_repo?: string | null;
  readonly name?: string | null;
}

/** The model of an id, a repository of the hub, an alias, or a file or tag that differs from these in form only. */
export const findModel = (catalogue: Catalogue, name: string): Found<CatalogueModel> =>
  find(name, catalogue.models, catalogue.ambiguous.models);

/** The accelerator of an id, an alias (such as its driver's name for it) or its own name. */
export const findAccelerator = (catalogue: Catalogue, name: string): Found<CatalogueAccelerator> =>
  find(name, catalogue.accelerators, catalogue.ambiguous.accelerators);

function find<E extends Named>(
  name: string,
  entries: readonly E[],
  ambiguous: readonly AmbiguousName[],
): Found<E> {
  const exact = exactly(name, entries);
  if (exact !== null) return exact;
  const loose = looseName(name);
  const hidden = ambiguous.find((known) => looseName(known.name) === loose);
  if (hidden !== undefined)
    return {
      entry: null,
      by: null,
      reason: `"${name}" is ambiguous: ${hidden.reason}`,
      near: hidden.candidates,
    };
  const hits = entries.filter((entry) => namesOf(entry).some((known) => looseName(known) === loose));
  const [entry] = hits;
  if (entry !== undefined && hits.length === 1) return { entry, by: 'name', reason: null, near: [] };
  if (hits.length > 1)
    return {
      entry: null,
      by: null,
      reason: `"${name}" names several entries`,
      near: hits.map(({ id }) => id),
    };
  return { entry: null, by: null, reason: `"${name}" has no entry`, near: nearTo(loose, entries) };
}

function exactly<E extends Named>(name: string, entries: readonly E[]): Found<E> | null {
  const by = (how: 'id' | 'repository' | 'alias', test: (entry: E) => boolean): Found<E> | null => {
    const entry = entries.find(test);
    return entry === undefined ? null : { entry, by: how, reason: null, near: [] };
  };
  return (
    by('id', ({ id }) => id === name) ??
    by(
      'repository',
      ({ hf_repo }) => typeof hf_repo === 'string' && hf_repo.toLowerCase() === name.toLowerCase(),
    ) ??
    by('alias', ({ aliases }) => aliases.some((alias) => alias.toLowerCase() === name.toLowerCase()))
  );
}

const namesOf = ({ id, aliases, hf_repo, name }: Named): string[] => [
  id,
  ...aliases,
  ...(typeof hf_repo === 'string' ? [hf_repo] : []),
  ...(typeof name === 'string' ? [name] : []),
];

/** Endings that say how weights are stored, and nothing of which weights they are. */
const storage =
  /[-.](gguf|ggml|mlx|awq|gptq|exl2|bf16|f16|fp16|fp8|mxfp4|nvfp4|int[48]|[48]bit|iq\d_[a-z]+|q\d(_\d|_k(_[sml])?)?)$/;

/**
 * A name without what doesn't tell checkpoints apart: case, the owner before the last slash, the storage type, and the
 * signs between words. Digits stay apart from digits.
 */
function looseName(name: string): string {
  let text = name
    .trim()
    .toLowerCase()
    .replace(/^.*\//, '')
    .replace(/:latest$/, '');
  while (storage.test(text)) text = text.replace(storage, '');
  return text
    .replace(/[\s:_-]+/g, '-')
    .replace(/([a-z])-(?=\d)/g, '$1')
    .replace(/(\d)-(?=[a-z])/g, '$1');
}

function nearTo(loose: string, entries: readonly Named[]): string[] {
  const within = entries.filter(
    ({ id }) => looseName(id).startsWith(loose) || loose.startsWith(looseName(id)),
  );
  if (within.length > 0) return within.map(({ id }) => id);
  const guess = closest(
    loose,
    entries.map(({ id }) => id),
  );
  return guess === null || guess === undefined ? [] : [guess];
}
