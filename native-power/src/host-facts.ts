import { readdirSync } from 'node:fs';
import { arch, cpus, type as osType, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { systemCode } from '@perwatt/core';
import { textFile } from './text-file.js';

/** What a reader must know of the machine that a number comes from. */
export interface HostFacts {
  /** Distribution and version, for example `Debian GNU/Linux 12 (bookworm)`. */
  readonly os: string;
  /** Kernel name and release. */
  readonly kernel: string;
  /** Instruction set, as Node names it: `x64`, `arm64`. */
  readonly arch: string;
  /** Model name of the CPU; null where the system gives none. */
  readonly cpu: string | null;
  /** Hardware threads online. */
  readonly threads: number;
  /** Physical cores, siblings counted once; null where the system doesn't tell. */
  readonly cores: number | null;
  readonly memory_bytes: number;
  /** Name of the virtual machine; null on bare metal, or where nothing announces one. */
  readonly virtual_machine: string | null;
  /** How the kernel sets CPU clocks, different ones joined by commas; null where it doesn't. */
  readonly governor: string | null;
}

/** The facts of the host whose tree is under `root`; what the tree lacks comes from the running system. */
export function hostFacts(root = '/'): HostFacts {
  const info = textFile(join(root, 'proc/cpuinfo')) ?? '';
  const kernel = ['ostype', 'osrelease'].map((name) => textFile(join(root, 'proc/sys/kernel', name)));
  const threads = valuesOf(info, 'processor').length;
  return {
    os: osName(root) ?? osType(),
    kernel: kernel.includes(null) ? `${osType()} ${release()}` : kernel.join(' '),
    arch: arch(),
    cpu: valuesOf(info, 'model name')[0] ?? (cpus()[0]?.model || null),
    threads: threads > 0 ? threads : cpus().length,
    cores: physicalCores(info),
    memory_bytes: memoryBytes(root) ?? totalmem(),
    virtual_machine: virtualMachine(root, info),
    governor: governor(root),
  };
}

const valuesOf = (info: string, key: string): string[] =>
  info
    .split('\n')
    .map((line) => line.split(':'))
    .filter(([name]) => name?.trim() === key)
    .map(([, ...value]) => value.join(':').trim());

function osName(root: string): string | null {
  const text = textFile(join(root, 'etc/os-release'));
  return text?.match(/^PRETTY_NAME="?([^"\n]+)"?$/m)?.[1] ?? null;
}

function physicalCores(info: string): number | null {
  const sockets = valuesOf(info, 'physical id');
  const ids = valuesOf(info, 'core id');
  return ids.length === 0 ? null : new Set(ids.map((id, i) => `${sockets[i] ?? 0}:${id}`)).size;
}

function memoryBytes(root: string): number | null {
  const kib = textFile(join(root, 'proc/meminfo'))?.match(/^MemTotal:\s+(\d+) kB$/m)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

const guests =
  /virtual|kvm|qemu|vmware|xen|hvm|bochs|compute engine|amazon ec2|openstack|parallels|firecracker/i;

/** Firmware names the hypervisor; where it is hidden, the CPU's flag still tells that there is one. */
function virtualMachine(root: string, info: string): string | null {
  const [maker, product] = ['sys_vendor', 'product_name'].map((name) =>
    textFile(join(root, 'sys/class/dmi/id', name)),
  );
  const name = [maker, product].filter((part) => part != null).join(' ');
  const type = textFile(join(root, 'sys/hypervisor/type'));
  const announced = valuesOf(info, 'flags')[0]?.split(' ').includes('hypervisor') ?? false;
  if (announced) return name || type || 'unnamed hypervisor';
  const metal = /\.metal/i.test(name);
  if (info.includes('flags') && !announced) return null;
  return !metal && guests.test(name) ? name : type;
}

function governor(root: string): string | null {
  const folder = join(root, 'sys/devices/system/cpu');
  const names = cpuFolders(folder).map((cpu) => textFile(join(folder, cpu, 'cpufreq/scaling_governor')));
  const known = new Set(names.filter((name) => name !== null));
  return known.size === 0 ? null : [...known].toSorted().join(', ');
}

function cpuFolders(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^cpu\d+$/.test(name));
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return [];
  }
}
