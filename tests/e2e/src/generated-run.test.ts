import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ggufFixture } from '@perwatt/test-kit';
import { expect, test } from 'vitest';
import { onlyRun, runCli, temporaryFolder } from './cli.js';

const matrix = `
name: generated
protocol: quick
axes:
  model: [{ id: tiny, path: tiny.gguf }]
  dataset:
    - { id: puzzles, kind: zebra, size: 2*2, limit: 2, max_tokens: 4 }
    - { id: hops, kind: multi-hop, passages: 3, limit: 2, max_tokens: 4 }
    - { id: blocks, kind: blocksworld, limit: 2, max_tokens: 4 }
    - { id: outputs, kind: code_o, limit: 2, max_tokens: 4 }
    - { id: programs, kind: code_f, limit: 2, max_tokens: 4 }
    - { id: house, kind: household, limit: 2, max_tokens: 4 }
`;

test('generated sets run in a matrix and every query has a grade', { timeout: 240_000 }, async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'tiny.gguf'), ggufFixture());
  writeFileSync(join(cwd, 'matrix.yaml'), matrix);
  const done = await runCli(['run', 'matrix.yaml', '--quiet'], { cwd });
  expect(done.stderr).not.toContain('error[');
  const run = onlyRun(join(cwd, 'runs'));
  const counted = await runCli(
    [
      'query',
      run,
      'select dataset, grader, count(*) n, count(verdict) graded from queries group by all order by dataset',
      '--csv',
    ],
    { cwd },
  );
  expect(counted.stdout.trim().split('\n')).toEqual([
    'dataset,grader,n,graded',
    'blocks,plan,2,2',
    'hops,em_f1,2,2',
    'house,environment,2,2',
    'outputs,literal,2,2',
    'programs,environment,2,2',
    'puzzles,puzzle_cells,2,2',
  ]);
});
