// Power of a GPU by `nvidia-smi`, read in a loop beside whatever runs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const FIELDS = ['power.draw.instant', 'power.draw'];
const EVERY_MS = 100;

/** `{ field }` that this nvidia-smi has, or `{ reason }`. */
function powerField(uuid) {
  for (const field of FIELDS) {
    const args = ['-i', uuid, `--query-gpu=${field}`, '--format=csv,noheader,nounits'];
    const { status, stdout, error } = spawnSync('nvidia-smi', args, { encoding: 'utf8', timeout: 30_000 });
    if (error) return { reason: `nvidia-smi cannot be run: ${error.message}` };
    if (status === 0 && Number.isFinite(Number.parseFloat(stdout))) return { field };
  }
  return { reason: `nvidia-smi tells no power of ${uuid}` };
}

/** Starts reading; `meanBetween(from_ms, to_ms)` is in W on the clock of `performance.now()`, null without a reading in between. */
export function watchPower(uuid) {
  const { field, reason } = powerField(uuid);
  if (reason !== undefined) return { reason };
  const args = ['-i', uuid, `--query-gpu=${field}`, '--format=csv,noheader,nounits', `--loop-ms=${EVERY_MS}`];
  const child = spawn('nvidia-smi', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const exit = once(child, 'exit').catch(() => {});
  const readings = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const power_w = Number.parseFloat(line);
    if (Number.isFinite(power_w)) readings.push({ at: performance.now(), power_w });
  });
  return {
    field,
    meanBetween(from, to) {
      const inside = readings.filter(({ at }) => at >= from && at <= to);
      return inside.length === 0
        ? null
        : inside.reduce((sum, { power_w }) => sum + power_w, 0) / inside.length;
    },
    async stop() {
      child.kill();
      await exit;
    },
  };
}
