import { AllowedEngines, issueText, issueWords, PerwattError } from '@perwatt/core';
import { parseDocument } from 'yaml';

/** The engines that a YAML or JSON text allows. Throws `INPUT_INVALID` with every problem in `file`. */
export function parseAllowedEngines(text: string, file: string): AllowedEngines {
  const doc = parseDocument(text, { prettyErrors: false, uniqueKeys: true });
  const [syntax] = doc.errors;
  if (syntax !== undefined) throw invalid(file, [syntax.message]);
  const parsed = AllowedEngines.safeParse(doc.toJS() ?? {}, { error: issueWords, reportInput: true });
  if (parsed.success) return parsed.data;
  throw invalid(
    file,
    parsed.error.issues.map((issue) => issueText(issue.path.map(String).join('.') || 'the file', issue)),
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
