// CPU kernels against what they wrap: a GEMM through the protocol and straight through oneDNN and OpenBLAS, a triad against a plain
// STREAM, in turn. The comparison itself is a program beside the kernels.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const LEAST_RATIO = 0.95;

export function run({ long = false } = {}) {
  const rounds = Number(process.env.PERWATT_BENCH_ROUNDS ?? (long ? 101 : 31));
  const build = ['run', '--quiet', '--release', '-p', 'kernels-cpu', '--example', 'against_libraries', '--'];
  const text = execFileSync('cargo', [...build, '--json', String(rounds)], {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = text.trim().split('\n');
  const comparisons = said.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const absent = said.filter((line) => !line.startsWith('{'));
  const lines = comparisons.map(
    ({ name, ours, best, ratio, low, high }) =>
      `${name}: direct time over ours, fastest rounds ${best.toFixed(3)} (at least ${LEAST_RATIO}), median ${ratio.toFixed(3)} (quartiles ${low.toFixed(3)} to ${high.toFixed(3)}), ${ours}`,
  );
  const passed = comparisons.length > 0 && comparisons.every(({ best }) => best >= LEAST_RATIO);
  return Promise.resolve({ passed, lines: [...lines, ...absent], data: { rounds, comparisons } });
}
