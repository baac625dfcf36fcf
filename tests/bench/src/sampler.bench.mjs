// What the power sampler costs and how exact it is, on a made-up host, beside what other samplers cost there. The host is a
// tmpfs over /sys/class in a mount namespace of its own, whose counters a process renews along a load that is known.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { peers, peerVersions } from './sampler/peers.mjs';
import { summary } from './sampler/summary.mjs';

const repository = fileURLToPath(new URL('../../..', import.meta.url));
const inside = fileURLToPath(new URL('./sampler/inside.mjs', import.meta.url));
const target = join(repository, 'target/stubs');
const ROUNDS = Number(process.env.PERWATT_BENCH_ROUNDS ?? 3);

/** With `long`, ten minutes at the default rates instead of one. `PERWATT_BENCH_PARTS` names some of the parts only. */
export async function run({ long = false } = {}) {
  const problem = unfit();
  if (problem !== null) return { passed: true, lines: [`skipped: ${problem}`] };
  const { python, problem: noPeers } = peers();
  const scratch = mkdtempSync(join(tmpdir(), 'perwatt-bench-'));
  try {
    const wanted = (process.env.PERWATT_BENCH_PARTS ?? 'default,fast,peers').split(',');
    const options = {
      libraries: standIns(scratch),
      wake: bareWakes(scratch),
      python,
      parts: wanted.filter((part) => part !== 'peers' || python !== null),
      rounds: ROUNDS,
      windows: long ? 60 : 6,
      window_s: 10,
      fast_windows: 8,
      fast_window_s: 5,
      load_s: 10,
      result: join(scratch, 'result.json'),
    };
    const settings = join(scratch, 'options.json');
    writeFileSync(settings, JSON.stringify(options));
    const args = ['--user', '--map-root-user', '--mount', process.execPath, inside, settings];
    const { status } = spawnSync('unshare', args, { stdio: ['ignore', 'inherit', 'inherit'] });
    if (status !== 0) return { passed: false, lines: [`it ended with exit code ${status}; see above`] };
    const data = { ...JSON.parse(readFileSync(options.result, 'utf8')), peers: peerVersions() };
    const { passed, lines } = summary(data);
    if (noPeers !== null) lines.push(`other samplers skipped: ${noPeers}`);
    return { passed, lines, data };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Why it can't run here; null when it can. */
function unfit() {
  if (process.platform !== 'linux') return 'the made-up host needs the mount namespaces of Linux';
  const addon = join(repository, 'native-power/perwatt-power.node');
  if (!existsSync(addon)) return 'the addon is not built (npm run build)';
  const args = ['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'perwatt', '/sys/class'];
  const { status, stderr, error } = spawnSync('unshare', args, { encoding: 'utf8' });
  return status === 0 ? null : `no mount namespace: ${error?.message ?? stderr.trim()}`;
}

/** Stand-ins for the vendors' libraries, built as the sampler itself is: what they take is in its figures. */
function standIns(folder) {
  mkdirSync(target, { recursive: true });
  const crates = ['-p', 'stub-nvml', '-p', 'stub-amdsmi'];
  const args = ['build', '--quiet', '--offline', '--release', ...crates, '--target-dir', target];
  const { status, stderr } = spawnSync('cargo', args, { cwd: repository, encoding: 'utf8' });
  if (status !== 0) throw new Error(`cargo builds no stand-ins for the vendors' libraries: ${stderr}`);
  return Object.fromEntries(
    ['nvml', 'amdsmi'].map((vendor) => {
      const library = join(folder, `libstub_${vendor}.so`);
      copyFileSync(join(target, 'release', `libstub_${vendor}.so`), library);
      return [vendor, library];
    }),
  );
}

/** Threads that only wake up, in Rust as the sampler's are. */
function bareWakes(folder) {
  const program = join(folder, 'wake');
  const source = fileURLToPath(new URL('./sampler/wake.rs', import.meta.url));
  const args = ['--edition', '2024', '-O', '-o', program, source];
  const { status, stderr } = spawnSync('rustc', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`rustc builds no bare wake-ups: ${stderr}`);
  return program;
}
