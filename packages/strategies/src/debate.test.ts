import { fc, test } from '@fast-check/vitest';
import type { CallRequest } from '@perwatt/core';
import type { Scripted } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { answerOf, ask, textOf } from './asking.fixture.js';
import { strategyById } from './strategies.js';

describe('debate', () => {
  const said = (call: CallRequest): Scripted =>
    call.role === 'summariser' ? 'SUMMARY' : `MINE-${call.branch} 4${call.branch}`;

  example.each([
    [2, 2],
    [3, 3],
    [5, 2],
  ])('%d members and %d rounds make N·R answers and N·(R − 1) summaries', async (members, rounds) => {
    const { batches } = await ask('debate', { members, rounds }, said);
    const calls = batches.flat();
    expect(calls.filter((c) => c.role !== 'summariser')).toHaveLength(members * rounds);
    expect(calls.filter((c) => c.role === 'summariser')).toHaveLength(members * (rounds - 1));
  });

  example('a member never reads its own answer among the others’', async () => {
    const { batches } = await ask('debate', { members: 4, rounds: 3 }, said);
    const summaries = batches.flat().filter((c) => c.role === 'summariser');
    for (const call of summaries) {
      expect(textOf(call.input)).not.toContain(`MINE-${call.branch} `);
      expect(textOf(call.input).match(/MINE-/g)).toHaveLength(3);
    }
    const bare = (await ask('debate', { members: 4, summaries: false }, said)).batches[1] ?? [];
    for (const call of bare) {
      const heard = call.input.kind === 'chat' ? (call.input.messages.at(-1)?.content ?? '') : '';
      expect(heard).not.toContain(`MINE-${call.branch} `);
      expect(heard.match(/MINE-/g)).toHaveLength(3);
    }
  });

  example('one round of one model is self_consistency: same inputs, same sampling, same winner', async () => {
    const script = ['41', '42', '42'];
    const one = await ask('debate', { rounds: 1, temperature: 0.7 }, script);
    const vote = await ask('self_consistency', { attempts: 3 }, script);
    const bare = (r: typeof one) => r.batches.flat().map(({ input, sampling }) => ({ input, sampling }));
    expect(bare(one)).toEqual(bare(vote));
    expect(answerOf(one.outcome)).toBe(answerOf(vote.outcome));
  });

  example('only the last round votes', async () => {
    const { outcome } = await ask('debate', {}, (call) =>
      call.role === 'summariser' ? '' : call.id.endsWith('-0') ? '7' : call.branch === 0 ? '7' : '42',
    );
    expect(answerOf(outcome)).toBe('42');
  });

  example('when the whole last round fails the round before it counts', async () => {
    const { outcome } = await ask('debate', {}, (call) =>
      call.role === 'critic' ? { error_code: 'timeout' } : '42',
    );
    expect(answerOf(outcome)).toBe('42');
  });

  example('a list of endpoints that fits no member count is one error', () => {
    const strategy = strategyById('debate');
    const params = strategy.params.parse({ members: 3, critics: ['main', 'strong'] });
    expect(() => strategy.needs(params)).toThrow('2 endpoints for 3 members');
  });
});

describe('team_vote', () => {
  const members = (...names: string[]) => ({ members: names });

  example('one member with k attempts is self_consistency', async () => {
    const script = ['1', '42', '42'];
    const team = await ask('team_vote', { ...members('main'), attempts: 3, temperature: 0.7 }, script);
    const vote = await ask('self_consistency', { attempts: 3 }, script);
    const bare = (r: typeof team) =>
      r.batches.flat().map(({ input, sampling, endpoint }) => ({ input, sampling, endpoint }));
    expect(bare(team)).toEqual(bare(vote));
    expect(answerOf(team.outcome)).toBe(answerOf(vote.outcome));
  });

  example(
    'a member that is replaced or masked leaves the others’ requests and seeds as they were',
    async () => {
      const others = async (input: Readonly<Record<string, unknown>>) =>
        (await ask('team_vote', input, () => '42')).batches
          .flat()
          .filter((c) => !c.id.startsWith('member-1-'));
      const before = await others(members('main', 'weak', 'weak'));
      expect(await others(members('main', 'strong', 'weak'))).toEqual(before);
      expect(await others({ ...members('main', 'weak', 'weak'), masked: [1] })).toEqual(before);
    },
  );

  test.prop([fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 })])(
    'the order of members does not change a winner without a tie',
    async (order) => {
      const says = ['42', '42', '42', '1', '2'];
      const { outcome } = await ask(
        'team_vote',
        { ...members('a', 'b', 'c', 'd', 'e') },
        order.map((i) => says[i]!),
      );
      expect(answerOf(outcome)).toBe('42');
    },
  );

  example('members may have sampling of their own', async () => {
    const { batches } = await ask(
      'team_vote',
      { members: ['main', { endpoint: 'weak', temperature: 0 }] },
      () => '42',
    );
    expect(batches[0]?.map((c) => c.sampling.temperature)).toEqual([0.8, 0]);
  });
});
