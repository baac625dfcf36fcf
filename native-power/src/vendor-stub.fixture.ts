import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A stand-in for a vendor's library, which says what its script says. */
export interface VendorStub {
  /** Path of the library. */
  readonly library: string;
  /** Says something else from now on. */
  say(script: string): void;
  remove(): void;
}

const repository = fileURLToPath(new URL('../..', import.meta.url));
const target = join(repository, 'target/stubs');

const build = (): string | null => {
  if (process.platform !== 'linux') return 'stand-ins for vendors’ libraries are built on Linux only';
  mkdirSync(target, { recursive: true });
  const crates = ['-p', 'stub-nvml', '-p', 'stub-amdsmi', '-p', 'stub-levelzero'];
  const args = ['build', '--quiet', '--offline', ...crates, '--target-dir', target];
  const { status, stderr } = spawnSync('cargo', args, { cwd: repository, encoding: 'utf8' });
  return status === 0 ? null : `cargo builds no stand-ins: ${stderr?.trim() || 'there is no cargo'}`;
};

/** Why there are no stand-ins on this machine; null when there are. Builds them, once. */
export const stubProblem: string | null = build();

/** A copy of its own, so that no test hears another's script. */
export function vendorStub(name: 'nvml' | 'amdsmi' | 'levelzero', script: string): VendorStub {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-stub-'));
  const file = `libstub_${name}.so`;
  const library = join(folder, file);
  copyFileSync(join(target, 'debug', file), library);
  const say = (text: string) => {
    writeFileSync(`${library}.next`, text);
    renameSync(`${library}.next`, `${library}.script`);
  };
  say(script);
  return { library, say, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** One NVIDIA GPU with a counter at `mj` mJ that draws `mw` mW; null leaves one out. */
export const nvidiaGpu = (mj: number | null, mw: number | null = 100_000): string =>
  [
    '0, 0, index, 0, 0, 0, 0',
    '0, 0, uuid, 0, 0, 0, GPU-A',
    '0, 0, 188, 0, 0, 1, 350000',
    ...(mj === null ? [] : [`0, 0, 83, 0, 0, 3, ${mj}`]),
    ...(mw === null ? [] : [`0, 0, 186, 0, 0, 1, ${mw}`]),
  ].join('\n');

/** One AMD GPU with a counter at `count` counts that draws `watts` W; beside any, the counter would be held to it when it is opened. */
export const amdGpu = (count: number, watts = 0): string =>
  [
    '0, 0, socket, 0, 0, 0, 0',
    '0, 0, bdf, 0, 0, 0, 10496',
    `0, 0, energy, 0, 0, 0, ${count}`,
    `0, 0, power, 0, 0, 0, ${watts}`,
  ].join('\n');

/** One Intel card with a counter at `uj` µJ. */
export const intelGpu = (uj: number): string =>
  ['0, 0, device, 0, 0, 0, 3', '0, 0, domain, 0, 0, 1,', `0, 0, energy, 0, 0, 0, ${uj}`].join('\n');
