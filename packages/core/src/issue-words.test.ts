import { expect, test } from 'vitest';
import * as z from 'zod';
import { issueText, issueWords } from './issue-words.js';

const said = (schema: z.ZodType, value: unknown): string[] =>
  schema
    .safeParse(value, { error: issueWords, reportInput: true })
    .error?.issues.map((issue) => issueText(issue.path.join('.') || 'it', issue)) ?? [];

const object = z.strictObject({ a: z.number() });
const forms = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('poisson') }),
  z.strictObject({ kind: z.literal('offline') }),
]);

// biome-ignore format: a table is read in columns
test.each<[string, z.ZodType, unknown, string]>([
  ['one entry without its list',                    z.array(z.string()),        'x',              'it must be a list, not "x"; write it as a list: [x]'],
  ['a mapping for a list',                          z.array(z.string()),        { a: 1 },         'it must be a list, not a mapping; begin each entry with "- "'],
  ['a key without a value',                         z.array(z.string()),        null,             'it must be a list, not null'],
  ['a list for a mapping',                          object,                     [1],              'it must be a mapping (`key: value`), not a list'],
  ['a key that is not there',                       object,                     {},               'a is missing; give a number'],
  ['a number in quotes',                            object,                     { a: '50' },      'a must be a number, not "50"; leave the quotes out'],
  ['a number with its unit',                        object,                     { a: '500ms' },   'a must be a number, not "500ms"; leave its unit out: the name of the key says which it is in'],
  ['a share in per cent',                           object,                     { a: '2%' },      'a must be a number, not "2%"; write it as a share: 0.02'],
  ['a word',                                        object,                     { a: 'many' },    'a must be a number, not "many"'],
  ['no number at all',                              object,                     { a: Number.NaN }, 'a must be a number, not NaN'],
  ['a year for a name',                             z.string(),                 2026,             'it must be a text, not 2026; put it in quotes: "2026"'],
  ['YAML 1.1',                                      z.boolean(),                'yes',            'it must be true or false, not "yes"'],
  ['half of one',                                   z.int(),                    1.5,              'it must be a whole number, not 1.5'],
  ['below what is allowed',                         z.int().positive(),         -5,               'it is -5, but must be above 0'],
  ['the limit itself may be',                       z.number().min(1),          0.5,              'it is 0.5, but must be at least 1'],
  ['above what is allowed',                         z.number().max(4096),       5000,             'it is 5000, but must be at most 4096'],
  ['a list of nothing',                             z.array(z.int()).min(1),    [],               'it is empty'],
  ['too short a list',                              z.array(z.int()).min(2),    [1],              'it must have at least 2 entries'],
  ['too long a text',                               z.string().max(3),          'long',           'it must have at most 3 characters'],
  ['a slip',                                        z.enum(['quick', 'strict']), 'quik',          'it may not be "quik"; did you mean "quick"?'],
  ['another word',                                  z.enum(['quick', 'strict']), 'fast',          'it may not be "fast"; known are quick, strict'],
  ['no word',                                       z.enum(['quick', 'strict']), undefined,       'it is missing; give one of quick, strict'],
  ['one value only',                                z.literal(1),               2,                'it must be 1, not 2'],
  ['a form by a name that is none',                 forms,                      { kind: 'poison' }, 'kind may not be "poison"; did you mean "poisson"?'],
  ['a form without its name',                       forms,                      {},               'kind is missing; give one of poisson, offline'],
  ['none of several types',                         z.union([z.int(), object]), 'three',          'it must be a number, or a mapping (`key: value`), not "three"'],
  ['none of several values',                        z.union([z.literal(false), object]), true,    'it must be false, or a mapping (`key: value`), not true'],
  ['an address without its scheme',                 z.url({ protocol: /^https?$/ }), 'host:80/v1', 'it is "host:80/v1", which is no address: begin it with http:// or https://'],
  ['a message of the schema, behind the value',     z.string().regex(/^a+$/, 'Use a only'), 'b',  'it "b": use a only'],
  ['a message of the schema on something larger',   object.refine(() => false, 'give more'), { a: 1 }, 'it: give more'],
  ['a key that is not of the form',                 z.record(z.string().regex(/^a/, 'begin with a'), z.int()), { b: 1 }, 'b has a key that may not be: begin with a'],
  ['a key that nobody knows',                       object,                     { a: 1, b: 2 },   'it has an unknown key "b"'],
])('is told in words: %s', (_why, schema, value, wanted) => {
  expect(said(schema, value)).toEqual([wanted]);
});

test('long values are cut', () => {
  expect(said(z.number(), 'x'.repeat(200))[0]?.length).toBeLessThan(120);
});
