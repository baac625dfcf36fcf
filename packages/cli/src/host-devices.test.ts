import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hostCommands } from './host-commands.js';
import { hostDevices } from './host-devices.js';

function tree(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-devices-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const host = {
  'proc/cpuinfo': 'processor : 0\nmodel name : Test CPU\n',
  'proc/meminfo': 'MemTotal:       1048576 kB\n',
  'proc/sys/kernel/ostype': 'Linux\n',
  'proc/sys/kernel/osrelease': '6.1\n',
};

const cpu = {
  kind: 'cpu',
  name: 'Test CPU',
  memory_bytes: 2 ** 30,
  power_limit_w: null,
  driver: 'Linux 6.1',
};

/** The devices of a tree whose `nvidia-smi` is a program of its own. */
async function devicesOf(files: Readonly<Record<string, string>>, program: string | null) {
  const root = tree({ ...host, ...files, ...(program === null ? {} : { 'bin/nvidia-smi': program }) });
  if (program !== null) chmodSync(join(root, 'bin/nvidia-smi'), 0o755);
  return hostDevices({ root, commands: hostCommands({ cwd: root, env: { PATH: join(root, 'bin') } }) });
}

const script = (text: string) => `#!${process.execPath}\n${text}`;

test('NVIDIA devices are what their tool says of them', async () => {
  const program = script(
    `console.log('NVIDIA H100 PCIe, 81559, 350.00, 570.86.10\\nTesla, [N/A], [N/A], 570.86.10');`,
  );
  expect(await devicesOf({}, program)).toEqual([
    cpu,
    {
      kind: 'gpu',
      name: 'NVIDIA H100 PCIe',
      memory_bytes: 81559 * 2 ** 20,
      power_limit_w: 350,
      driver: '570.86.10',
    },
    { kind: 'gpu', name: 'Tesla', memory_bytes: null, power_limit_w: null, driver: '570.86.10' },
  ]);
});

test('a tool that cannot reach its driver, or is not there, names none', async () => {
  const broken = script(`console.log('NVIDIA-SMI has failed'); process.exitCode = 9;`);
  expect(await devicesOf({}, broken)).toEqual([cpu]);
  expect(await devicesOf({}, null)).toEqual([cpu]);
});

test('AMD devices are what the kernel says of them; other vendors of displays are none', async () => {
  const files = {
    'sys/class/drm/card0/device/vendor': '0x1002\n',
    'sys/class/drm/card0/device/product_name': 'Instinct MI300X\n',
    'sys/class/drm/card0/device/mem_info_vram_total': '206141652992\n',
    'sys/class/drm/card0/device/hwmon/hwmon4/power1_cap': '750000000\n',
    'sys/class/drm/card1/device/vendor': '0x1002\n',
    'sys/class/drm/card1/device/device': '0x73bf\n',
    'sys/class/drm/card2/device/vendor': '0x8086\n',
    'sys/class/drm/card0-DP-1/status': 'connected\n',
    'sys/module/amdgpu/version': '6.10.5\n',
  };
  expect(await devicesOf(files, null)).toEqual([
    cpu,
    {
      kind: 'gpu',
      name: 'Instinct MI300X',
      memory_bytes: 206141652992,
      power_limit_w: 750,
      driver: '6.10.5',
    },
    { kind: 'gpu', name: 'AMD 0x73bf', memory_bytes: null, power_limit_w: null, driver: '6.10.5' },
  ]);
});
