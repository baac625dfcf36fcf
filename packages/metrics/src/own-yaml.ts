import { messageOf } from '@perwatt/core';
import { parseDocument } from 'yaml';

/** What a text of YAML or JSON holds, or all that is wrong with it. */
export type OwnYaml = { readonly value: unknown } | { readonly problems: readonly string[] };

/** Reads a user's YAML or JSON; `{}` for an empty text. References that unfold without bound are a problem like any other. */
export function parseOwnYaml(text: string): OwnYaml {
  const document = parseDocument(text, { prettyErrors: true });
  if (document.errors.length > 0)
    return { problems: document.errors.map((error) => error.message.split('\n')[0] ?? '') };
  try {
    return { value: document.toJS() ?? {} };
  } catch (error) {
    return { problems: [messageOf(error).split('\n')[0] ?? ''] };
  }
}
