import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { strategiesCommand } from './strategies.js';

async function said(...args: string[]): Promise<string> {
  const { io, result } = recordedIo({ cwd: tmpdir() });
  await strategiesCommand(io).parseAsync(args, { from: 'user' });
  return result.out.join('\n');
}

test('the list names every strategy', async () => {
  const text = await said('list');
  expect(text).toContain('self_consistency');
  expect(JSON.parse(await said('list', '--json'))).toHaveLength(21);
});

test('a strategy is shown with its drawing, parameters and what others published, apart', async () => {
  const text = await said('show', 'delegate');
  expect(text).toContain('┌▶ clone ─┐');
  expect(text).toContain('| `max_turns` | whole number, 1 to 100 | `10` |');
  expect(text).toContain('Published by others, without energy:');
  expect(await said('show', 'single')).toContain('Nothing was published');
  expect(JSON.parse(await said('show', 'debate', '--json'))).toMatchObject({
    id: 'debate',
    published: [{}, {}],
  });
});

test('an unknown one names the nearest', async () => {
  await expect(said('show', 'debat')).rejects.toThrow('did you mean "debate"?');
});
