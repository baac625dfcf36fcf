import { type Item, PerwattError } from '@perwatt/core';
import { optionLabel, optionLines } from './dataset.js';
import { goldLabel } from './items.js';
import { type OptionInfo, type OptionReader, readOptions } from './options.js';
import { optionalText, type Row, requiredOptions, requiredText, rowError } from './rows.js';

/** Which field of a row is what, and how a prompt is made of them. */
export interface Mapping {
  readonly fields: {
    readonly prompt: string;
    readonly gold: string;
    readonly id?: string;
    readonly subject?: string;
    readonly options?: string | readonly string[];
  };
  readonly template: string;
}

/** Options that every loader of mapped rows takes. */
export const mappingOptions: readonly OptionInfo[] = [
  { name: 'path', summary: 'the file; required' },
  {
    name: 'fields',
    summary: 'which field is what: { prompt, gold, id, options, subject }; default: fields of these names',
  },
  { name: 'grader', summary: 'grader of the answers; default: choice where options are mapped, else exact' },
  { name: 'template', summary: 'prompt with {prompt}, {options} and {subject} in it; default: by grader' },
  { name: 'answer_tokens', summary: 'longest answer that makes sense, default 512' },
  { name: 'licence', summary: 'licence of the data, for the record' },
  { name: 'sha256', summary: 'sha256 of the file, checked when given' },
];

const roles = ['prompt', 'gold', 'id', 'options', 'subject'] as const;

/** The mapping that `fields` declares. A role that is not declared is read from the field of its name, if there is one. */
export function readMapping(
  dataset: string,
  reader: OptionReader,
  known: readonly string[] | null,
): Mapping['fields'] {
  const declared = reader.record('fields') ?? {};
  const checked = readOptions(
    `${dataset}.fields`,
    declared,
    roles.map((name) => ({ name, summary: '' })),
  );
  const fallback = (role: string) => (known === null || known.includes(role) ? role : undefined);
  const optional = (role: 'id' | 'subject') => {
    const field = checked.text(role) ?? (known?.includes(role) === true ? role : undefined);
    return field === undefined ? {} : { [role]: field };
  };
  const options =
    optionFields(dataset, declared['options']) ??
    (known?.includes('options') === true ? 'options' : undefined);
  return {
    prompt: checked.text('prompt') ?? fallback('prompt') ?? 'prompt',
    gold: checked.text('gold') ?? fallback('gold') ?? 'gold',
    ...optional('id'),
    ...optional('subject'),
    ...(options === undefined ? {} : { options }),
  };
}

function optionFields(dataset: string, value: unknown): string | readonly string[] | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  if (Array.isArray(value) && value.length >= 2 && value.every((v): v is string => typeof v === 'string'))
    return value;
  throw new PerwattError(
    'INPUT_INVALID',
    `data set "${dataset}": fields.options is ${JSON.stringify(value)}, not a field or a list of fields`,
  );
}

const TEMPLATES: Readonly<Record<string, string>> = {
  choice: '{prompt}\n{options}\nFinish with "The answer is (X)", where X is the letter of the right option.',
  numeric: '{prompt}\nFinish with a line "#### N", where N is the answer as a number.',
};

/** The template given, which must hold the prompt; else the one that demands the format the grader reads best. */
export function readTemplate(dataset: string, reader: OptionReader, grader: string): string {
  const template = reader.text('template') ?? TEMPLATES[grader] ?? '{prompt}';
  if (template.includes('{prompt}')) return template;
  throw new PerwattError('INPUT_INVALID', `data set "${dataset}": option "template" has no {prompt} in it`);
}

/** The item that a row stands for. */
export function mapRow(row: Row, index: number, { fields, template }: Mapping): Item {
  const prompt = requiredText(row, fields.prompt);
  const gold = requiredText(row, fields.gold);
  const options = fields.options === undefined ? null : requiredOptions(row, fields.options);
  const subject = fields.subject === undefined ? null : optionalText(row, fields.subject);
  const values = { prompt, options: options === null ? '' : optionLines(options), subject: subject ?? '' };
  return {
    id: fields.id === undefined ? `row-${index + 1}` : requiredText(row, fields.id),
    prompt: fill(template, values),
    gold: options === null ? gold : labelOrThrow(row, gold, options),
    options,
    subject,
  };
}

const fill = (template: string, values: Readonly<Record<'prompt' | 'options' | 'subject', string>>) =>
  template
    .replaceAll(/\{(?<name>prompt|options|subject)\}/g, (_, name: keyof typeof values) => values[name])
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();

function labelOrThrow(row: Row, gold: string, options: readonly string[]): string {
  const label = goldLabel(gold, options, optionLabel);
  if (label === null) throw rowError(row.place, `gold "${gold}" names none of the ${options.length} options`);
  return label;
}
