import { PerwattError } from '@perwatt/core';
import { expect, test } from 'vitest';
import { axisId } from './axis-id.js';
import { parseMatrix } from './parse-matrix.js';

const message = (text: string) => {
  try {
    parseMatrix(text, 'm.yaml');
    return 'valid';
  } catch (error) {
    return error instanceof PerwattError ? `${error.code} ${error.message}` : String(error);
  }
};

const minimal = 'name: t\naxes:\n  model: [a]\n  dataset: [d]\n';

test('fills in defaults, and a name alone stands for an entry', () => {
  expect(parseMatrix(minimal, 'm.yaml')).toMatchObject({
    seed: 42,
    protocol: 'standard',
    axes: {
      model: [{ id: 'a' }],
      accelerator: [{ id: 'host-cpu', kind: 'cpu' }],
      strategy: [{ id: 'single' }],
      load: [{ concurrency: 1 }],
    },
  });
});

test('keeps the options of data sets and strategies for those who know them', () => {
  const text = `${minimal}  strategy: [{ id: sc3, kind: self_consistency, attempts: 3 }]\n`;
  expect(parseMatrix(text, 'm.yaml').axes.strategy[0]).toEqual({
    id: 'sc3',
    kind: 'self_consistency',
    attempts: 3,
  });
});

test('reports every problem at once, each with its line', () => {
  const text = [
    'name: t',
    'protocl: quick',
    'seed: -1',
    'axes:',
    '  model:',
    '    - { id: a, pth: x.gguf }',
    '  dataset: []',
    '  load: [{ concurrency: 0 }]',
  ].join('\n');
  expect(message(text)).toMatchInlineSnapshot(`
    "MATRIX_INVALID m.yaml is not a valid matrix
      m.yaml:2: unknown key protocl; did you mean "protocol"?
      m.yaml:3: seed is -1, but must be at least 0
      m.yaml:6: unknown key axes.model[0].pth; did you mean "path"?
      m.yaml:7: axes.dataset is empty
      m.yaml:8: axes.load[0].concurrency is 0, but must be above 0"
  `);
});

// biome-ignore format: a table is read in columns
test.each<[string, RegExp, string]>([
  ['name: t\naxes: {model: [a, a], dataset: [d]}',                        /m\.yaml:2: axes\.model holds "a" twice/,          'a duplicate axis value'],
  [`${minimal}  load: [1, {concurrency: 2}]\n`,                           /m\.yaml:5: axes\.load\[0\] 1: write it as \{ concurrency: 4 \}/, 'a load is not a number'],
  [`${minimal}  load: [offlne]\n`,                                        /m\.yaml:5: axes\.load\[0\]\.preset may not be "offlne"; did you mean "offline"\?/, 'a slip is no load of its own'],
  [`${minimal}exclude: [{models: a}]\n`,                                  /unknown key exclude\[0\]\.models; did you mean "model"/, 'an axis in the plural'],
  [`${minimal}endpoints: {lab: 'http://h/v1'}\n`,                         /endpoints\.lab "http:\/\/h\/v1": write it as \{ url: /, 'an address for an endpoint'],
  ['name: t\naxes:\n  model: [org/name]\n  dataset: [d]\n',               /m\.yaml:3: axes\.model\[0\]\.id "org\/name": use letters.*goes under `model`/, 'a name of the hub'],
  ['name: t\naxes:\n  model: [{id: a, model: org/name}]\n  dataset: [d]\n', /m\.yaml:3: axes\.model\[0\]\.model is what a server knows/, 'a name of the hub without a server'],
  [`${minimal}---\nname: two\n`,                                          /a second document begins here/,                  'two matrices in a file'],
  ['name: a: b\n',                                                        /m\.yaml:1: nested mappings.*in quotes/,          'a text with a colon'],
  ['name: t\naxes:\n\tmodel: [a]\n',                                      /m\.yaml:3: tabs .*: indent with blanks/,         'tabs'],
  [`${minimal}  load: [{concurrency: 2}, {concurrency: 2}]\n`,            /axes\.load holds "c2" twice/,                     'loads without names are called after their concurrency'],
  [`${minimal}  load: [server]\n`,                                        /m\.yaml:5: .*`server` needs `rate_per_s`/,      'a server load without a rate'],
  [`${minimal}  load: [{preset: offline, rate_per_s: 2}]\n`,              /rate_per_s: means nothing beside `preset: offline`/, 'a preset with a key that it makes nothing of'],
  [`${minimal}  load: [{preset: single_stream, concurrency: 4}]\n`,       /concurrency: of `preset: single_stream` is 1/,   'a single stream of four'],
  [`${minimal}  load: [{rate_per_s: 4}]\n`,                               /rate_per_s: stands beside `preset: server` only/, 'a rate without arrivals'],
  [`${minimal}  load: [{slo: {}}]\n`,                                     /load\[0\]\.slo: give a limit/,                  'limits that limit nothing'],
  [`${minimal}  load: [{steady: {rule: plateau, ratio: 2}}]\n`,           /steady\.ratio/,                                 'more than all calls in flight'],
  [`${minimal}  load: [{arrivals: {kind: ramp, from_per_s: 0, to_per_s: 9, duration_s: 5, curve: exponential}}]\n`, /from_per_s: an exponential ramp cannot begin at 0/, 'growth from nothing'],
  [`${minimal}exclude:\n  - {model: b}\n`,                                /m\.yaml:6: exclude\[0\]\.model names "b"/,        'an exclusion that hits nothing'],
  ['name: t\naxes:\n  model: [{id: a, endpoint: x}]\n  dataset: [d]\n',   /m\.yaml:3: .*names "x", but there is no `endpoints`/, 'an endpoint that is not there'],
  ['name: [\n',                                                           /m\.yaml:/,                                        'broken YAML'],
  ['name: t\nname: u\n',                                                  /m\.yaml:2: .*unique/i,                            'a key given twice'],
  ['',                                                                    /name is missing; give a text/,                     'an empty file'],
])('%j is refused: %s', (text, expected) => {
  expect(message(text)).toMatch(expected);
});

test('MLPerf scenarios stand on the load axis by name, and on record as what is sent', () => {
  const text = `${minimal}  load: [single_stream, offline, {preset: server, rate_per_s: 4, cap: 8}, {id: quiet}]\n`;
  const { load } = parseMatrix(text, 'm.yaml').axes;
  expect(load).toEqual([
    { id: 'single_stream', concurrency: 1 },
    { concurrency: 1, arrivals: { kind: 'offline' } },
    { concurrency: 1, cap: 8, arrivals: { kind: 'server', rate_per_s: 4 } },
    { id: 'quiet', concurrency: 1 },
  ]);
  expect(load.map(axisId)).toEqual(['single_stream', 'offline', 'server-4', 'quiet']);
});

test('a file that is no text is refused in one line', () => {
  expect(() => parseMatrix('GGUF\0\u0001: -- {', 'w.gguf')).toThrowError('w.gguf: this is no text');
});

test('of very many or very long problems a readable part is told', () => {
  const keys = Array.from({ length: 40 }, (_, i) => `k${i}${'x'.repeat(400)}: 1`).join('\n');
  expect(() => parseMatrix(`name: t\n${keys}`, 'm.yaml')).toThrowError(
    expect.objectContaining({ message: expect.stringMatching(/^(.{0,340}\n){31} {2}and 11 more$/) }),
  );
});

test('aliases made to fill the memory are one clear error; ordinary ones are fine', () => {
  const bomb = `a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c]\n${minimal}`;
  expect(message(bomb)).toMatch(/^MATRIX_INVALID .*\n.*its aliases stand for more than 200 values/);
  expect(message('name: t\naxes: &x { model: [*x], dataset: [d] }')).toMatch(/^MATRIX_INVALID /);
  const once = 'name: t\naxes:\n  model: [&m { id: a }]\n  dataset: [d]\nexclude: [{ model: [*n] }]\n';
  expect(message(once)).toMatch(/^MATRIX_INVALID .*n$/s);
  const fine = 'name: t\naxes:\n  model: [&m a]\n  dataset: [*m]\n';
  expect(parseMatrix(fine, 'm.yaml').axes.dataset).toEqual([{ id: 'a' }]);
});

// biome-ignore format: a table is read in columns
test.each<[more: string, problem: string]>([
  ['constraints: [{ when: { colour: red }, forbid: { model: a } }]',  'm.yaml:5: constraints[0].when.colour names no axis; axes are model'],
  ['constraints: [{ require: { model: b } }]',                        'm.yaml:5: constraints[0].require.model names "b", which is not on the axis (a)'],
  ['constraints: [{ require: { variant: b } }]',                      'constraints[0].require.variant names "b", which is not on the axis (it is empty)'],
  ['constraints: [{ when: { model: a } }]',                           'give `require` or `forbid`, and not both'],
  ['constraints: [{ forbid: { load.concurency: 8 } }]',               'm.yaml:5: constraints[0].forbid.load.concurency names no setting of the axis; did you mean "concurrency"?'],
  ['exclude: [{ variant: v }]',                                       'exclude[0].variant names "v"'],
])('a constraint that points nowhere is named with its line: %s', (more, problem) => {
  expect(message(`${minimal}${more}\n`)).toContain(problem);
});

// biome-ignore format: a table is read in columns
test.each<[more: string, problem: string]>([
  ['braker: false',                         'm.yaml:5: unknown key braker; did you mean "breaker"?'],
  ['breaker: { aftr: 2 }',                  'm.yaml:5: unknown key breaker.aftr; did you mean "after"?'],
  ['breaker: { after: 0 }',                 'm.yaml:5: breaker.after is 0, but must be above 0'],
  ['breaker: true',                         'm.yaml:5: breaker must be false, or a mapping'],
  ['endpoints: { e: { ulr: "http://h/v1" } }', 'unknown key endpoints.e.ulr; did you mean "url"?'],
])('keys of several forms name what is wrong with the form that was meant: %s', (more, problem) => {
  expect(message(`${minimal}${more}\n`)).toContain(problem);
});
