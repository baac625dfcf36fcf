import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hostFacts } from './host-facts.js';

function files(contents: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-host-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const thread = (id: number, core: number, socket: number, flags: string) =>
  `processor\t: ${id}\nmodel name\t: Some CPU: 9000\nphysical id\t: ${socket}\ncore id\t\t: ${core}\nflags\t\t: ${flags}\n\n`;
const cpuinfo = (flags: string) =>
  [thread(0, 0, 0, flags), thread(1, 0, 0, flags), thread(2, 0, 1, flags), thread(3, 1, 1, flags)].join('');

test('facts of a host', () => {
  const root = files({
    'etc/os-release': 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
    'proc/sys/kernel/ostype': 'Linux\n',
    'proc/sys/kernel/osrelease': '6.1.0-18-amd64\n',
    'proc/cpuinfo': cpuinfo('fpu sse'),
    'proc/meminfo': 'MemTotal:       16384000 kB\nMemFree: 1 kB\n',
    'sys/devices/system/cpu/cpu0/cpufreq/scaling_governor': 'schedutil\n',
    'sys/devices/system/cpu/cpu1/cpufreq/scaling_governor': 'performance\n',
    'sys/devices/system/cpu/cpufreq/boost': '1\n',
  });
  expect(hostFacts(root)).toEqual({
    os: 'Debian GNU/Linux 12 (bookworm)',
    kernel: 'Linux 6.1.0-18-amd64',
    arch: process.arch,
    cpu: 'Some CPU: 9000',
    threads: 4,
    cores: 3,
    memory_bytes: 16384000 * 1024,
    virtual_machine: null,
    governor: 'performance, schedutil',
  });
});

test('what a tree lacks is null, or comes from the running system', () => {
  const facts = hostFacts(files({}));
  expect(facts).toMatchObject({ cores: null, virtual_machine: null, governor: null });
  expect(facts.threads).toBeGreaterThan(0);
  expect(facts.memory_bytes).toBeGreaterThan(0);
  expect(facts.kernel).not.toBe('');
});

const dmi = (maker: string, product: string) => ({
  'sys/class/dmi/id/sys_vendor': `${maker}\n`,
  'sys/class/dmi/id/product_name': `${product}\n`,
});
const x86 = (flags: string) => ({ 'proc/cpuinfo': cpuinfo(flags) });
const arm = { 'proc/cpuinfo': 'processor\t: 0\nFeatures\t: fp asimd\n' };

// biome-ignore format: a table is read in columns
test.each<[why: string, tree: Record<string, string>, expected: string | null]>([
  ['named by its firmware',         { ...x86('fpu hypervisor'), ...dmi('QEMU', 'Standard PC') },         'QEMU Standard PC'],
  ['named by the hypervisor alone', { ...x86('fpu hypervisor'), 'sys/hypervisor/type': 'xen\n' },        'xen'],
  ['announced but unnamed',         x86('fpu hypervisor'),                                               'unnamed hypervisor'],
  ['a laptop',                      { ...x86('fpu sse'), ...dmi('LENOVO', '20XW') },                     null],
  ['a cloud machine without guests', { ...x86('fpu sse'), ...dmi('Amazon EC2', 'm7i.metal-24xl') },      null],
  ['ARM, told by its firmware',     { ...arm, ...dmi('Amazon EC2', 'c7g.large') },                       'Amazon EC2 c7g.large'],
  ['ARM without a hypervisor',      { ...arm, ...dmi('Amazon EC2', 'c7g.metal') },                       null],
  ['an ARM board',                  arm,                                                                 null],
])('virtual machine: %s', (_why, tree, expected) => {
  expect(hostFacts(files(tree)).virtual_machine).toBe(expected);
});
