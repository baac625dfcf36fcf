import { fc, test } from '@fast-check/vitest';
import { describe, test as example, expect } from 'vitest';
import { plurality, type Vote } from './plurality.js';

const same = (a: string, b: string) => a === b;
const ballots = fc.array(fc.option(fc.constantFrom('a', 'b', 'c', 'd')), { maxLength: 24 });
const count = (answers: readonly (string | null)[], answer: string | null) =>
  answers.filter((a) => a === answer).length;

describe('laws of a plurality vote', () => {
  test.prop([ballots])(
    'the winner has as many votes as any other, and tied counts those that equal it',
    (answers) => {
      const vote = plurality(answers, same);
      const most = Math.max(...['a', 'b', 'c', 'd'].map((a) => count(answers, a)));
      if (vote.status === 'empty') expect(most).toBe(0);
      else {
        expect(vote.votes).toBe(most);
        expect(count(answers, vote.answer)).toBe(most);
        expect(vote.tied).toBe(['a', 'b', 'c', 'd'].filter((a) => count(answers, a) === most).length);
      }
    },
  );

  test.prop([ballots])('one more vote for the winner keeps it, and nulls change nothing', (answers) => {
    const vote = plurality(answers, same);
    fc.pre(vote.status === 'won');
    expect(plurality([...answers, vote.answer], same)).toMatchObject({ answer: vote.answer, tied: 1 });
    expect(plurality([null, ...answers, null], same)).toEqual(vote);
  });

  test.prop([ballots, fc.nat()])('order decides only between answers that are tied', (answers, turn) => {
    const vote = plurality(answers, same);
    const at = turn % Math.max(1, answers.length);
    const turned = plurality([...answers.slice(at), ...answers.slice(0, at)], same);
    if (vote.status === 'won' && vote.tied === 1) expect(turned).toEqual(vote);
    else expect(turned.status).toBe(vote.status);
  });

  test.prop([ballots])('votes and nulls add up to the answers given', (answers) => {
    const votes = ['a', 'b', 'c', 'd'].reduce((sum, a) => sum + count(answers, a), 0);
    expect(votes + count(answers, null)).toBe(answers.length);
    const vote = plurality(answers, same);
    if (vote.status === 'won') expect(vote.votes * vote.tied).toBeLessThanOrEqual(votes);
  });
});

describe('plurality', () => {
  type Row = readonly [answers: readonly (string | null)[], vote: Vote, why: string];
  // biome-ignore format: a table is read in columns
  example.each<Row>([
    [['b', 'a', null, 'a', 'b'], { status: 'won', answer: 'b', votes: 2, tied: 2 }, 'the first of tied answers wins'],
    [['a', 'b', 'b'],            { status: 'won', answer: 'b', votes: 2, tied: 1 }, 'more votes beat an earlier answer'],
    [['x'],                      { status: 'won', answer: 'x', votes: 1, tied: 1 }, 'one answer wins'],
    [[null, null, 'c'],          { status: 'won', answer: 'c', votes: 1, tied: 1 }, 'nulls never vote, however many'],
    [[null, null],               { status: 'empty' },                               'nobody voted'],
    [[],                         { status: 'empty' },                               'nothing was asked'],
  ])('%j gives %j: %s', (answers, vote) => {
    expect(plurality(answers, same)).toEqual(vote);
  });

  example('answers are grouped by the given equivalence, and the form given first stands', () => {
    const loosely = (a: string, b: string) => Number(a) === Number(b);
    expect(plurality(['7', '42.0', '42'], loosely)).toEqual({
      status: 'won',
      answer: '42.0',
      votes: 2,
      tied: 1,
    });
  });
});
