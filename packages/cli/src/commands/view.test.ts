import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackBundle } from '@perwatt/reports';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import { viewCommand } from './view.js';

const golden = fileURLToPath(new URL('../../../../reports/golden/run.tgz', import.meta.url));

let root = '';
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-view-'));
  await unpackBundle(golden, { into: join(root, 'golden'), most_bytes: 1e9 });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('a run is served until Ctrl-C, at an address that nobody can guess', async () => {
  const stopping = new AbortController();
  const { io, result } = recordedIo({ cwd: root, signal: stopping.signal });
  const served = viewCommand(io).parseAsync(['golden/run', '--every', '0.1'], { from: 'user' });
  await vi.waitFor(() => expect(result.out).toHaveLength(1));
  const [url = ''] = result.out;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
  const state = await (await fetch(`${url}state`)).json();
  expect(state).toMatchObject({ status: 'done', cells_done: 2, queries_done: 48, problems: [] });
  stopping.abort();
  await served;
  await expect(fetch(url)).rejects.toThrow();
});

test('--json tells once how a run stands, and changes nothing in it', async () => {
  const before = readFileSync(join(root, 'golden/run/run.json'), 'utf8');
  const { io, result } = recordedIo({ cwd: root });
  await viewCommand(io).parseAsync(['golden/run', '--json'], { from: 'user' });
  const state = JSON.parse(result.out.join(''));
  expect(state).toMatchObject({ name: 'golden', queries_planned: 48, queries_done: 48, behind: false });
  expect(state.cells.every(({ accuracy }: { accuracy: number }) => accuracy > 0.5)).toBe(true);
  expect(state.bytes_read).toBeGreaterThan(10_000);
  expect(readFileSync(join(root, 'golden/run/run.json'), 'utf8')).toBe(before);
});

test.each([
  ['no run', ['nowhere'], 'RUN_NOT_FOUND'],
  ['no port', ['golden/run', '--port', '70000'], 'commander.invalidArgument'],
])('%s is one clear error', async (_what, args, code) => {
  const { io } = recordedIo({ cwd: root });
  const command = viewCommand(io)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  await expect(command.parseAsync(args, { from: 'user' })).rejects.toMatchObject({ code });
});
