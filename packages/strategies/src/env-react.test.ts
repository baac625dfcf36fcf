import { drive, type Script } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { answerOf, decisionsOf, textOf } from './asking.fixture.js';
import { actionIn } from './env-react.js';
import { context, corridor, item } from './settings.fixture.js';
import { strategyById } from './strategies.js';

describe('env_react', () => {
  const walk = (script: Script, input: Readonly<Record<string, unknown>> = {}) => {
    const strategy = strategyById('env_react');
    const world = corridor();
    const query = strategy.run(item, strategy.params.parse(input), { ...context(), openWorld: () => world });
    return drive(query, script);
  };

  example('no skill reaches a prompt unless it is asked for', async () => {
    const prompts = async (skills: string) =>
      JSON.stringify((await walk(() => 'Action: forward', { skills })).batches);
    expect(await prompts('off')).not.toContain('SKILL');
    expect(await prompts('on')).toContain('SKILL');
  });

  example('stops when the world says so and gives the actions back', async () => {
    const { outcome, batches } = await walk(() => 'I go.\nAction: forward');
    expect(batches).toHaveLength(3);
    expect(outcome).toMatchObject({ answer: 'forward\nforward\nforward' });
    expect(decisionsOf(outcome)).toBe('solved in 3 actions, 0 not possible, reward 1');
  });

  example('an action that is not possible costs a step; the world’s limit holds', async () => {
    const { outcome, batches } = await walk(() => 'dance');
    expect(batches).toHaveLength(6);
    expect(decisionsOf(outcome)).toContain('6 not possible');
  });

  example('only the latest pairs are shown, and what was left out is told', async () => {
    const { batches } = await walk(() => 'back', { history: 2 });
    const last = textOf(batches[5]![0]!.input);
    expect(last.match(/assistant: back/g)).toHaveLength(2);
    expect(last).toContain('(3 earlier steps are not shown)');
  });

  example('a failed call ends the episode with what was done', async () => {
    const { outcome } = await walk(['forward', { error_code: 'timeout' }]);
    expect(answerOf(outcome)).toBe('forward');
    expect(decisionsOf(outcome)).toContain('cut short by a failed call (timeout)');
  });

  // biome-ignore format: a table is read in columns
  example.each([
    ['I think.\nAction: go to shelf 1', 'go to shelf 1'],
    ['**Action:** look',                '** look'],
    ['go north\n\n',                    'go north'],
    ['Action: a\nAction: b',            'b'],
    ['',                                ''],
  ])('the command in %j is %j', (text, action) => {
    expect(actionIn(text)).toBe(action);
  });
});
