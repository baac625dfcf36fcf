import { fc, test } from '@fast-check/vitest';
import type { CallRequest } from '@perwatt/core';
import type { Scripted } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { answerOf, ask, textOf } from './asking.fixture.js';
import { afterMarker, clipLeft } from './clip.js';
import { toolCallsOf } from './hermes.js';
import { readObjectives } from './objectives.js';
import { item, settings } from './settings.fixture.js';

describe('delegate', () => {
  const call = (args: unknown) =>
    `<tool_call>${JSON.stringify({ name: 'spawn_clone', arguments: args })}</tool_call>`;
  const once =
    (args: unknown, clone: (c: CallRequest) => Scripted = () => 'Answer: 6') =>
    (c: CallRequest) =>
      c.role === 'root' ? (c.id === 'root-0' ? call(args) : 'Answer: 42') : clone(c);

  example(
    'clones of a turn are one batch after the root, without tools and without each other’s text',
    async () => {
      const { batches } = await ask('delegate', {}, once({ objectives: ['PIECE-A', 'PIECE-B'] }));
      expect(batches.map((b) => b.map((c) => c.role))).toEqual([['root'], ['clone', 'clone'], ['root']]);
      const clones = batches[1] ?? [];
      expect(clones.map((c) => c.parents)).toEqual([['root-0'], ['root-0']]);
      expect(textOf(clones[0]!.input)).not.toContain('PIECE-B');
      expect(JSON.stringify(clones)).not.toContain('spawn_clone');
      expect(batches[2]?.[0]?.parents).toEqual(['clone-0-0', 'clone-0-1']);
    },
  );

  example('only passages whose keys were passed reach a clone, and the root sees titles only', async () => {
    const { batches } = await ask(
      'delegate',
      { reading: 'keys' },
      once({ objectives: ['read'], shared_context: ['Six', 'Eight'] }),
    );
    const [root, clones, after] = batches;
    expect(textOf(root![0]!.input)).not.toContain('SECRET');
    expect(textOf(root![0]!.input)).toContain('- Six');
    expect(textOf(clones![0]!.input)).toContain('SECRET-SIX');
    expect(textOf(clones![0]!.input)).not.toContain('SECRET-SEVEN');
    expect(textOf(after![0]!.input)).toContain('missing key: Eight');
  });

  example(
    'results are joined in the order of the objectives, the right side kept, within both limits',
    async () => {
      const long = (c: CallRequest): Scripted => `Answer: ${'x'.repeat(400)}END${c.branch}`;
      const { batches } = await ask('delegate', {}, once({ objectives: ['a', 'b'] }, long));
      const joined = textOf(batches[2]![0]!.input)
        .split('<tool_response>\n')[1]!
        .split('\n</tool_response>')[0]!;
      expect(joined.length).toBeLessThanOrEqual(512);
      expect(joined.indexOf('END0')).toBeLessThan(joined.indexOf('END1'));
      const [first] = (await ask('delegate', {}, once({ objectives: ['a'] }, long))).batches.slice(-1);
      const line = textOf(first![0]!.input).split('<tool_response>\n')[1]!.split('\n')[0]!;
      expect(line).toHaveLength('turn0_clone0: '.length + 256);
      expect(line.endsWith('END0')).toBe(true);
    },
  );

  example('objectives over the limit are told to the root as rejected', async () => {
    const { batches } = await ask('delegate', { max_clones: 2 }, once({ objectives: ['a', 'b', 'c'] }));
    expect(batches[1]).toHaveLength(2);
    expect(textOf(batches[2]![0]!.input)).toContain('rejected: objective 3: over the limit of 2 clones');
  });

  example('a clone that fails is told to the root and does not fail the query', async () => {
    const { batches, outcome } = await ask(
      'delegate',
      {},
      once({ objectives: ['a', 'b'] }, (c) => (c.branch === 0 ? { error_code: 'timeout' } : 'Answer: 7')),
    );
    expect(textOf(batches[2]![0]!.input)).toContain('turn0_clone0: failed, timeout (a)');
    expect(answerOf(outcome)).toBe('Answer: 42');
  });

  example('without a tool call it is one call: the root’s', async () => {
    const { batches, outcome } = await ask('delegate', {}, ['Answer: 42']);
    expect(batches.flat()).toHaveLength(1);
    expect(answerOf(outcome)).toBe('Answer: 42');
  });

  example('the cap on turns holds and nothing is spawned for nobody', async () => {
    const { batches, outcome } = await ask('delegate', { max_turns: 2 }, (c) =>
      c.role === 'root' ? call({ objectives: ['a'] }) : 'Answer: 1',
    );
    expect(batches.flat().map((c) => c.role)).toEqual(['root', 'clone', 'root']);
    expect(outcome).toMatchObject({ status: 'abstained', reason: 'no answer within 2 turns' });
  });

  example('native tool calls are answered by turns of role tool', async () => {
    const { batches } = await ask('delegate', { tool_form: 'native' }, (c) =>
      c.id === 'root-0'
        ? {
            text: '',
            finish: 'tool_calls',
            tool_calls: [{ index: 0, id: 't1', name: 'spawn_clone', arguments: '{"objectives": ["a"]}' }],
          }
        : 'Answer: 42',
    );
    const [first, , last] = batches.map((b) => b[0]!.input);
    expect(first).toHaveProperty('tools.0.name', 'spawn_clone');
    expect(last).toMatchObject({
      messages: [
        {},
        {},
        { role: 'assistant', tool_calls: [{ id: 't1' }] },
        { role: 'tool', tool_call_id: 't1' },
      ],
    });
  });

  // biome-ignore format: a table is read in columns
  example.each<readonly [args: Readonly<Record<string, unknown>>, accepted: number, rejected: number, why: string]>([
    [{ objectives: ['a', 'b'] },                       2, 0, 'texts'],
    [{ tasks: ['a'] },                                 1, 0, 'another name'],
    [{ objective: 'a' },                               1, 0, 'one text is a list of one'],
    [{ objectives: [{ instruction: 'a' }, { task: 'b' }] }, 2, 0, 'objects'],
    [{ objectives: [{ name: 'x' }] },                  0, 1, 'no instruction'],
    [{ objectives: [''] },                             0, 1, 'an empty one'],
    [{ objectives: [3] },                              0, 1, 'neither text nor object'],
    [{ objectives: 7 },                                0, 1, 'no list'],
    [{},                                               0, 1, 'nothing'],
  ])('%j gives %d objectives and %d rejections: %s', (args, accepted, rejected) => {
    const read = readObjectives(args, 30);
    expect([read.accepted.length, read.rejected.length]).toEqual([accepted, rejected]);
  });

  // biome-ignore format: a table is read in columns
  example.each<readonly [text: string, args: unknown, repaired: boolean, why: string]>([
    ['<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>',     { a: 1 }, false, 'as asked'],
    ['<tool_call>{"name": "f", "arguments": {"a": 1}',                  { a: 1 }, true,  'cut off'],
    ["<tool_call>{'name': 'f', 'arguments': {'a': 1,}}</tool_call>",    { a: 1 }, true,  'quotes and a comma too many'],
    ['<tool_call>{"name": "f", "arguments": "{\\"a\\": 1}"}</tool_call>', { a: 1 }, false, 'arguments as text'],
    ['<tool_call>{"name": "f"}</tool_call>',                            null,     false, 'no arguments'],
  ])('%j has the arguments %j, repaired %j: %s', (text, args, repaired) => {
    expect(toolCallsOf({ text })).toMatchObject([{ name: 'f', args, repaired }]);
  });

  test.prop([fc.string({ unit: 'grapheme', maxLength: 40 }), fc.nat(50)])(
    'clips keep the right side and whole characters',
    (text, length) => {
      const cut = clipLeft(text, length);
      expect(cut.length).toBeLessThanOrEqual(length);
      expect(text.endsWith(cut)).toBe(true);
      expect(/^[\uDC00-\uDFFF]/.test(cut)).toBe(false);
    },
  );

  // biome-ignore format: a table is read in columns
  example.each([
    ['<think>a</think> b',            'b'],
    ['Answer: 1\nAnswer: 2',          '2'],
    ['the Final Answer: x',           'x'],
    ['#### 7',                        '7'],
    ['no marker',                     'no marker'],
    ['Answer:',                       'Answer:'],
  ])('after the marker of %j stands %j', (text, rest) => {
    expect(afterMarker(text)).toBe(rest);
  });
});

describe('spawn_join', () => {
  example('a child sees its message only', async () => {
    const { batches } = await ask('spawn_join', {}, settings['spawn_join']!.respond);
    const children = batches[1] ?? [];
    expect(children).toHaveLength(2);
    expect(textOf(children[0]!.input)).toContain('branch one');
    for (const child of children) expect(textOf(child.input)).not.toContain(item.prompt);
    expect(textOf(children[1]!.input)).not.toContain('branch one');
  });
});
