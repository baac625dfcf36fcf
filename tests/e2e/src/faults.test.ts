import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MockFailure, type MockServerOptions, startMockServer } from '@perwatt/clients';
import type { CallRow } from '@perwatt/core';
import { type CellFile, openRun, type RunFolder } from '@perwatt/records';
import { describe, expect, onTestFinished, test } from 'vitest';
import { onlyRun, runCli, temporaryFolder } from './cli.js';

const ITEMS = 24;

interface Served {
  readonly id: string;
  readonly mock: MockServerOptions;
}

interface Measured {
  readonly code: number | null;
  readonly stderr: string;
  readonly run: RunFolder;
  readonly cell: (model: string) => CellFile;
  readonly calls: (model: string) => readonly CallRow[];
}

/** A matrix of one cell a server, each under a load of eight calls at a time, with timeouts of a second. */
async function measure(servers: readonly Served[], load = '{ concurrency: 8 }'): Promise<Measured> {
  const mocks = await Promise.all(
    servers.map(({ mock }) =>
      startMockServer({ ttft: { kind: 'constant', ms: 5 }, tpot: { kind: 'constant', ms: 2 }, ...mock }),
    ),
  );
  onTestFinished(async () => void (await Promise.all(mocks.map((mock) => mock.close()))));
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'matrix.yaml'),
    `
name: faults
protocol: quick
order: as-written
axes:
  model: [${servers.map(({ id }) => `{ id: ${id}, endpoint: ${id} }`).join(', ')}]
  dataset: [{ id: sums, kind: arithmetic, level: 1, limit: ${ITEMS}, max_tokens: 8 }]
  load: [${load}]
power: { sources: [] }
endpoints:
${servers.map(({ id }, i) => `  ${id}: { url: '${mocks[i]!.url}', headers_timeout_s: 0.6, idle_timeout_s: 0.6 }`).join('\n')}
`,
  );
  const { code, stderr } = await runCli(['run', 'matrix.yaml', '--quiet', '--no-report', '--no-compact'], {
    cwd: folder,
  });
  const run = openRun(onlyRun(join(folder, 'runs')));
  const cell = (model: string) => run.cells().find(({ point }) => point.model === model)!;
  return {
    code,
    stderr,
    run,
    cell,
    calls: (model) => run.readCalls(cell(model).cell_id).rows.filter(({ phase }) => phase === 'measure'),
  };
}

// biome-ignore format: a table is read in columns
const faults: readonly (readonly [fault: MockFailure, outcomes: readonly string[], why: string])[] = [
  ['refuse', ['connect_error'], 'no answer has begun'],
  ['reset', ['truncated'], 'what came is kept'],
  ['hang', ['timeout headers_timeout'], 'no answer begins in time'],
  ['stall', ['timeout idle_timeout'], 'an answer falls silent'],
  ['slow_headers', ['timeout headers_timeout'], 'an answer begins too late'],
  ['too_many', ['http_error http_429'], 'its Retry-After is not obeyed: nothing is sent twice'],
  ['error', ['http_error http_500'], 'a failure of the server'],
  ['html', ['protocol_error'], 'status 200 is not enough'],
  ['bad_json', ['protocol_error'], 'an event that can not be read'],
  ['stream_error', ['stream_error'], 'an error within the answer'],
  ['truncate', ['truncated'], 'an orderly end too soon'],
];

/** What a call came to, as far as the table names it. */
const outcomeOf = ({ status, error_kind }: CallRow, outcomes: readonly string[]): string => {
  const whole = `${status} ${error_kind}`;
  return outcomes.includes(whole) ? whole : status;
};

describe('faults under load', () => {
  test('every row has its status, nothing is lost or sent twice, and the verdict and the exit code say so', async () => {
    const { code, stderr, cell, calls, run } = await measure(
      faults.map(([fault]) => ({ id: fault, mock: { failures: { [fault]: 0.4 }, seed: 7 } })),
    );
    expect(code).toBe(1);
    for (const [fault, outcomes] of faults) {
      const rows = calls(fault);
      expect([fault, rows.length, new Set(rows.map(({ query_id }) => query_id)).size]).toEqual([
        fault,
        ITEMS,
        ITEMS,
      ]);
      const failed = rows.filter(({ status }) => status !== 'ok');
      expect([fault, failed.length > 2 && failed.length < ITEMS]).toEqual([fault, true]);
      const collateral = fault === 'refuse' ? ['connect_error', 'truncated'] : [];
      for (const row of failed) {
        expect([
          fault,
          [...outcomes, ...collateral].includes(outcomeOf(row, outcomes)),
          row.error_kind,
          row.status,
        ]).toEqual([fault, true, row.error_kind, row.status]);
        expect(row.error_kind).not.toBeNull();
      }
      const { status, verdict, cell_id } = cell(fault);
      expect([fault, status, verdict?.state]).toEqual([fault, 'done', 'invalid']);
      expect(verdict?.reasons.map((reason) => reason.code)).toContain('failed_queries');
      expect(stderr).toContain(`cell invalid: ${fault} × `);
      const queries = run.readQueries(cell_id).rows;
      expect(queries.filter(({ verdict: graded }) => graded === 'error')).toHaveLength(failed.length);
    }
  });

  test('no call outlasts its timeout', async () => {
    const { calls } = await measure([{ id: 'hang', mock: { failures: { hang: 1 } } }]);
    const waits = calls('hang').map(({ dispatch_ns, end_ns }) => Number(end_ns - dispatch_ns) / 1e9);
    expect(waits).toHaveLength(ITEMS);
    expect(Math.min(...waits)).toBeGreaterThan(0.55);
    // Ten times its timeout is still far from for ever, whatever else the machine does.
    expect(Math.max(...waits)).toBeLessThan(6);
  });

  test.each(['{ concurrency: 8 }', '{ id: poisson, arrivals: { kind: poisson, rate_per_s: 60 } }'])(
    'a server that is killed fails every row after it, at once (%s)',
    async (load) => {
      const { code, cell, calls } = await measure(
        [{ id: 'death', mock: { failures: { death: 0.08 }, seed: 3 } }],
        load,
      );
      expect(code).toBe(1);
      const rows = calls('death');
      expect(rows).toHaveLength(ITEMS);
      const statuses = new Set(rows.map(({ status }) => status));
      expect(statuses).toContain('connect_error');
      expect(
        [...statuses].filter((status) => !['ok', 'truncated', 'connect_error'].includes(status)),
      ).toEqual([]);
      expect(cell('death')).toMatchObject({ status: 'done', verdict: { state: 'invalid' } });
    },
  );

  test('one failed call in twenty-four flags its cell and no more: exit code 0', async () => {
    const { code, cell, calls } = await measure([
      { id: 'few', mock: { failures: { reset: 0.04 }, seed: 10 } },
    ]);
    const failed = calls('few').filter(({ status }) => status !== 'ok').length;
    expect(failed).toBe(1);
    expect(code).toBe(0);
    expect(cell('few')).toMatchObject({ status: 'done', verdict: { state: 'flagged' } });
  });
});
