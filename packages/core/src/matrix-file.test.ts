import { expect, test } from 'vitest';
import { MatrixFile, matrixJsonSchema } from './matrix-file.js';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly type?: string;
  readonly enum?: readonly string[];
}

const root: Node = matrixJsonSchema();
const itemsOf = (name: string): Node | undefined => root.properties?.['axes']?.properties?.[name]?.items;

// biome-ignore format: a table is read in columns
test.each([
  ['model',       'smollm2-135m', undefined],
  ['accelerator', 'host-cpu',     undefined],
  ['dataset',     'gsm8k',        undefined],
  ['strategy',    'single',       undefined],
  ['variant',     'base',         undefined],
  ['load',        'offline',      ['single_stream', 'server', 'offline']],
])('a value of the axis %s may be a name, for the JSON Schema as for the parser', (axis, name, names) => {
  const [text, whole] = itemsOf(axis)?.anyOf ?? [];
  expect([text?.type, text?.enum, whole?.type]).toEqual(['string', names, 'object']);
  const axes = { model: ['m'], dataset: ['d'], [axis]: [name] };
  expect(MatrixFile.safeParse({ name: 't', axes }).success).toBe(true);
});

test('models on no axis may be names as well, and other lists are left as they are', () => {
  expect(root.properties?.['models']?.items?.anyOf?.[0]?.type).toBe('string');
  expect(root.properties?.['train']?.items?.anyOf).toBeUndefined();
});
