import { AllowedEngines, PerwattError } from '@perwatt/core';
import { parseDocument } from 'yaml';

/** The engines that a YAML or JSON text allows. Throws `INPUT_INVALID` with every problem in `file`. */
export function parseAllowedEngines(text: string, file: string): AllowedEngines {
  const doc = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
  const [syntax] = doc.errors;
  if (syntax !== undefined) throw invalid(file, [syntax.message]);
  const parsed = AllowedEngines.safeParse(doc.toJS() ?? {});
  if (parsed.success) return parsed.data;
  throw invalid(
    file,
    parsed.error.issues.map(({ path, message }) => `${path.map(String).join('.') || 'the file'}: ${message}`),
  );
}

const invalid = (file: string, problems: readonly string[]) =>
  new PerwattError(
    'INPUT_INVALID',
    `${file} is no list of engines\n${problems.map((p) => `  ${p}`).join('\n')}`,
    {
      hint: 'Write `engines: { NAME: { kind: vllm, models: [MODEL], host: 0.0.0.0 } }`; `docs/engines.md` tells more.',
    },
  );
