import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hostCommands } from './host-commands.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'perwatt-commands-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const commandsIn = (cwd: string) => hostCommands({ cwd, env: { ...process.env, LIMIT: '5' } });
const node = (script: string, ...args: readonly string[]) => [process.execPath, '-e', script, ...args];
const soon = { timeout_ms: 20_000 };

test('a program ends with its code and both outputs; words reach it as they are, without a shell', async () => {
  const cwd = folder();
  const script =
    'console.log(process.env.LIMIT, process.argv[1], process.cwd()); console.error("why"); process.exitCode = 3';
  expect(await commandsIn(cwd).run(node(script, '$(id); `ls` *'), soon)).toEqual({
    exit_code: 3,
    stdout: `5 $(id); \`ls\` * ${execFileSync('pwd', ['-P'], { cwd, encoding: 'utf8' })}`,
    stderr: 'why\n',
  });
});

test('a program that is none ends as a shell would say', async () => {
  const end = await commandsIn(folder()).run(['no-such-program-here'], soon);
  expect(end).toMatchObject({ exit_code: 127, stderr: expect.stringContaining('ENOENT') });
});

test('a program that takes too long is killed with its children', async () => {
  const cwd = folder();
  const child = 'setInterval(() => require("node:fs").writeFileSync("alive", String(Date.now())), 20)';
  const script = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}]); setInterval(() => {}, 1e6)`;
  const ended = commandsIn(cwd).run(node(script), { timeout_ms: 3000 });
  await vi.waitFor(() => expect(existsSync(join(cwd, 'alive'))).toBe(true), { timeout: 2900 });
  expect((await ended).exit_code).toBeNull();
  const last = readFileSync(join(cwd, 'alive'), 'utf8');
  await commandsIn(cwd).run(node('setTimeout(() => {}, 200)'), soon);
  expect(readFileSync(join(cwd, 'alive'), 'utf8')).toBe(last);
});
