import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openSandbox, type Sandbox, type SandboxPlace } from './sandbox.js';

const tmp = mkdtempSync(join(tmpdir(), 'perwatt-code-'));
afterAll(() => rmSync(tmp, { recursive: true, force: true }));

const place = { tmp, path: '/usr/sbin:/usr/bin:/sbin:/bin', root: process.getuid?.() === 0 };
const opened = await openSandbox(place).catch((error: Error) => error);
const sandbox = opened instanceof Error ? null : opened;
const why = opened instanceof Error ? opened.message : '';
const here = (): Sandbox => sandbox!;

describe('a program in the sandbox', () => {
  test('passes when it comes to its end, and says why when it does not', async ({ skip }) => {
    skip(sandbox === null, why);
    expect(await here().run('import math, json\nassert math.gcd(4, 6) == 2')).toEqual({ status: 'passed' });
    expect(await here().run('assert 1 == 2, "not\\nequal"')).toEqual({
      status: 'failed',
      reason: 'AssertionError: not equal',
    });
    expect(await here().run('def f(:')).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/^SyntaxError/),
    });
  });

  // biome-ignore format: a table is read in columns
  test.for<readonly [name: string, program: string, status: string, reason: RegExp]>([
    ['exits early',              'import sys; sys.exit(0)',                                        'failed',    /^SystemExit/],
    ['exits without a word',     'import os; os._exit(0)',                                         'failed',    /ended before its tests/],
    ['prints a success',         'print("passed"); import os; os.write(1, b"passed\\n"); os._exit(0)', 'failed', /ended before/],
    ['loops for ever',           'while True: pass',                                               'timed_out', /CPU time|5 s/],
    ['sleeps for ever',          'import time; time.sleep(1e6)',                                   'timed_out', /more than 5 s/],
    ['ignores the signal',       'import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass', 'timed_out', /CPU time|5 s/],
    ['fills the memory',         'x = []\nwhile True: x.append(bytearray(10**7))',                 'failed',    /^MemoryError/],
    ['fills its folder',         'with open("/tmp/x", "wb") as f:\n  while True: f.write(b"0" * 10**6)', 'failed', /^OSError/],
    ['makes endless files',      'i = 0\nwhile True:\n  open(f"/tmp/{i}", "w").close(); i += 1',   'failed',    /^OSError: \[Errno 28\]/],
    ['recurses for ever',        'def f(): return f()\nf()',                                       'failed',    /^RecursionError/],
    ['crashes its interpreter',  'import ctypes; ctypes.string_at(0)',                             'failed',    /ended before/],
    ['raises what cannot be printed', 'class E(Exception):\n  def __str__(self): raise self\nraise E()', 'failed', /^E/],
    ['signals its parent',       'import os, signal\nos.kill(os.getppid(), signal.SIGKILL)',       'failed',    /PermissionError|ended before/],
    ['bombs with forks',         'import os\nwhile True: os.fork()',                               'failed',    /BlockingIOError|ended before/],
    ['bombs with threads',       'import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()', 'failed', /RuntimeError/],
  ])('that %s is stopped', async ([, program, status, reason], { skip }) => {
    skip(sandbox === null, why);
    const times = status === 'timed_out' ? { cpu_s: 1, wall_s: 5 } : { cpu_s: 30, wall_s: 50 };
    const limits = { ...times, memory_bytes: 192 * 1024 * 1024 };
    const outcome = await here().run(program, { limits });
    expect(outcome).toMatchObject({ status, reason: expect.stringMatching(reason) });
  });

  test('reaches no network, neither this host nor another', async ({ skip }) => {
    skip(sandbox === null, why);
    let reached = 0;
    const server = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const program = `
import socket
for host in ('127.0.0.1', '10.0.0.1', 'localhost', 'example.com'):
    try:
        socket.create_connection((host, ${port}), 1)
    except OSError:
        continue
    raise AssertionError(host)`;
    expect(await here().run(program)).toEqual({ status: 'passed' });
    server.close();
    expect(reached).toBe(0);
  });

  test('sees neither home nor secrets nor other processes, and writes nowhere but to its own folder', async ({
    skip,
  }) => {
    skip(sandbox === null, why);
    const secret = join(tmp, 'secret.txt');
    writeFileSync(secret, 'secret');
    const program = `
import os
for path in (${JSON.stringify(homedir())} + '/.cache', ${JSON.stringify(secret)}, '/etc/passwd', '/proc/self', '/sys', '/var', '/home'):
    assert not os.path.exists(path), path
assert os.environ.get('HOME') is None and 'SECRET' not in os.environ
for folder in ('/', '/usr', '/dev', '/usr/lib', '/bin'):
    try:
        open(os.path.join(folder, 'perwatt-was-here'), 'w')
    except OSError:
        continue
    raise AssertionError(folder)
open('/tmp/own', 'w').write('x')
assert len(os.listdir('/tmp')) == 2`;
    expect(await here().run(program)).toEqual({ status: 'passed' });
    expect(existsSync('/usr/perwatt-was-here')).toBe(false);
    expect(await here().run('import os\nassert os.listdir("/tmp") == ["program.py"]')).toEqual({
      status: 'passed',
    });
  });

  test('gains no rights: no mounts, no other user, no raw devices', async ({ skip }) => {
    skip(sandbox === null, why);
    const program = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.mount(b'tmpfs', b'/tmp', b'tmpfs', 0, None) != 0
assert libc.mount(None, b'/usr', None, 32 | 4096, None) != 0
assert libc.umount2(b'/usr', 2) != 0
for act in (lambda: os.chroot('/tmp'), lambda: os.setuid(0 if os.getuid() else 1), lambda: os.mknod('/tmp/sda', 0o60600, os.makedev(8, 0))):
    try:
        act()
    except OSError:
        continue
    raise AssertionError('allowed')`;
    expect(await here().run(program)).toEqual({ status: 'passed' });
    const nested = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000 | 0x00020000) == 0:
    libc.mount(None, b'/usr', None, 32 | 4096, None)
    try:
        open('/usr/perwatt-was-here', 'w')
        raise AssertionError('/usr is writable')
    except OSError:
        pass`;
    expect(await here().run(nested)).toEqual({ status: 'passed' });
    expect(existsSync('/usr/perwatt-was-here')).toBe(false);
  });

  test('leaves nothing behind, runs beside others, and ends with a signal', async ({ skip }) => {
    skip(sandbox === null, why);
    const before = readdirSync(tmp);
    const outcomes = await Promise.all([1, 2, 3, 4].map((n) => here().run(`assert ${n} % 2 == 0`)));
    expect(outcomes.map(({ status }) => status)).toEqual(['failed', 'passed', 'failed', 'passed']);
    const control = new AbortController();
    const stuck = here().run('import time; time.sleep(1e6)', { signal: control.signal });
    control.abort();
    await expect(stuck).rejects.toThrow('aborted');
    expect(readdirSync(tmp)).toEqual(before);
  });

  test('may not be too long', async ({ skip }) => {
    skip(sandbox === null, why);
    expect(await here().run('#'.repeat(1_000_001))).toMatchObject({ status: 'failed' });
  });
});

// biome-ignore format: a table is read in columns
test.each<readonly [part: Partial<SandboxPlace>, message: RegExp, why: string]>([
  [{ path: '/nowhere' },                  /cannot be isolated here: (?:missing unshare, mount, chroot|\w+ has no)/, 'no tools'],
  [{ python: '/nowhere/python3' },        /no-python|missing|has no/,                                              'no interpreter'],
  [{ tmp: join(tmp, 'missing') },         /./,                                                                      'no folder for it'],
])('where there is %j no sandbox is opened', async (part, message) => {
  await expect(openSandbox({ ...place, ...part })).rejects.toThrow(message);
});
