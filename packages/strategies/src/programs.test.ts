import { fc, test } from '@fast-check/vitest';
import { drive } from '@perwatt/test-kit';
import { describe, test as example, expect } from 'vitest';
import { best, type Individual, insert, newArchive, ranking } from './archive.js';
import { answerOf, ask, decisionsOf, textOf } from './asking.fixture.js';
import { applyEdits } from './edits.js';
import { proposerReward } from './propose-solve.js';
import { context, item, settings } from './settings.fixture.js';
import { strategyById } from './strategies.js';

describe('propose_solve', () => {
  example('never solved and always solved earn nothing; the rarest success earns most', () => {
    expect([null, 0, 1 / 8, 1 / 2, 1].map(proposerReward)).toEqual([null, 0, 0.875, 0.5, 0]);
  });

  example('a proposal that does not run is no example and is not tried', async () => {
    const { batches, outcome } = await ask('propose_solve', { proposals: 2 }, (call) => {
      if (call.role === 'proposer')
        return call.branch === 0 ? '{"program": "rm -rf", "input": "1"}' : '{"program": "x3", "input": "4"}';
      return call.id.startsWith('try') ? 'Answer: 12' : '42';
    });
    const last = textOf(batches.at(-1)![0]!.input);
    expect(last).toContain('x3');
    expect(last).not.toContain('rm -rf');
    expect(batches[1]).toHaveLength(2);
    expect(decisionsOf(outcome)).toContain('1 of 2 proposals are valid');
    expect(decisionsOf(outcome)).toContain('proposal 2: valid, solved 2 of 2, reward 0');
  });

  example('a program that gives another output the second time is no task', async () => {
    let runs = 0;
    const strategy = strategyById('propose_solve');
    const fickle = {
      id: 'f',
      version: 1,
      description: '',
      run: () => ({ ok: true as const, output: `${runs++}`, steps: 1 }),
    };
    const query = strategy.run(item, strategy.params.parse({ proposals: 1 }), {
      ...context(),
      language: fickle,
    });
    const { outcome } = await drive(query, settings['propose_solve']!.respond);
    expect(decisionsOf(outcome)).toContain('gives another output the second time');
  });
});

describe('evolve', () => {
  const born = (program: string, score: number, at: number): Individual => ({
    program,
    call_id: `c${at}`,
    score,
    behaviour: program,
    born: at,
  });

  test.prop([
    fc.array(fc.tuple(fc.string({ maxLength: 60 }), fc.integer({ min: 0, max: 10 })), { maxLength: 40 }),
  ])('a cell keeps only the fittest and the best never gets worse', (programs) => {
    const archive = newArchive({ islands: 2, bins: 4 });
    let top = -1;
    for (const [at, [program, score]] of programs.entries()) {
      insert(archive, at % 2, born(program, score, at));
      const now = best(archive)?.score ?? -1;
      expect(now).toBeGreaterThanOrEqual(top);
      top = now;
    }
    expect(top).toBe(Math.max(-1, ...programs.map(([, score]) => score)));
    expect(ranking(archive, 0).length).toBeLessThanOrEqual(16);
  });

  // biome-ignore format: a table is read in columns
  example.each<readonly [text: string, program: string | null, why: string]>([
    ['<<<<<<< SEARCH\nx3\n=======\nx2\n>>>>>>> REPLACE', 'x2', 'replaces'],
    ['<<<<<<< SEARCH\nx9\n=======\nx2\n>>>>>>> REPLACE', null, 'the searched text is not there'],
    ['x2',                                               null, 'no block'],
  ])('%j makes %j of x3: %s', (text, program) => {
    const applied = applyEdits('x3', text);
    expect(applied.ok ? applied.program : null).toBe(program);
  });

  example(
    'changes that do not apply are counted, and the search ends when every example is met',
    async () => {
      const { outcome, batches } = await ask('evolve', { islands: 1, iterations: 5 }, (call) =>
        call.round === 0
          ? '```\nx3\n```'
          : call.round === 1
            ? 'no change'
            : '<<<<<<< SEARCH\nx3\n=======\nx2\n>>>>>>> REPLACE',
      );
      expect(batches).toHaveLength(3);
      expect(answerOf(outcome)).toBe('x2');
      expect(decisionsOf(outcome)).toContain('1 changes did not apply');
    },
  );
});
