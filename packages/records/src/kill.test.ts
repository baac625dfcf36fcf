import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createRng, type Rng } from '@perwatt/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nextSegment, readTable } from './read-tables.js';

const KILLS = 5;
const MOST_REPORTS = 60;
const dist = join(import.meta.dirname, '..', 'dist', 'index.js');

/** Writes batches of one to 40 rows without end, to a new segment, and reports the highest id after each flush. */
const child = `
import { SegmentWriter } from ${JSON.stringify(pathToFileURL(dist).href)};
const folder = process.argv[2];
let id = Number(process.argv[3]);
const sitting = Number(process.argv[4]);
const writer = SegmentWriter.create({ folder, file: \`texts-\${sitting}.arrows\`, table: 'texts', sitting, metadata: {} });
const step = () => {
  const rows = Array.from({ length: 1 + (id % 40) }, () => ({
    run_id: 'r', cell_id: 'c', query_id: String(id++), call_id: null, sitting, kind: \`kind \${id % 300}\`,
    text: 'x'.repeat((id * 37) % 5000), detail: null,
  }));
  writer.append(rows);
  writer.flush();
  process.stdout.write(\`\${id}\\n\`);
  setImmediate(step);
};
step();
`;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'perwatt-kill-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the child, kills it somewhere behind a random report, and returns how many ids it reported last. */
async function runAndKill(script: string, from: number, rng: Rng): Promise<number> {
  const reports = 1 + Math.floor(rng() * MOST_REPORTS);
  const pause_ms = rng() * 4;
  const running = spawn(
    process.execPath,
    [script, folder, String(from), String(nextSegment(folder, 'texts'))],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const ended = once(running, 'exit');
  let reported = from;
  let seen = 0;
  for await (const line of createInterface({ input: running.stdout })) {
    reported = Number(line);
    seen += 1;
    if (seen === reports) setTimeout(() => running.kill('SIGKILL'), pause_ms);
  }
  const [, signal] = await ended;
  expect(signal).toBe('SIGKILL');
  return reported;
}

test('every batch whose flush was reported outlives kill -9, over five kills and resumes', async ({
  skip,
}) => {
  if (!existsSync(dist)) return skip(`the child runs on built files: ${dist} is missing`);
  const script = join(folder, 'child.mjs');
  writeFileSync(script, child);
  const rng = createRng(2026);
  let reported = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const from = readTable(folder, 'texts', []).rows.length;
    expect(nextSegment(folder, 'texts')).toBe(kill);
    reported = await runAndKill(script, from, rng);
    const { rows, torn, segments } = readTable(folder, 'texts', []);
    expect(rows.length).toBeGreaterThanOrEqual(reported);
    expect(rows.map((r) => r.query_id)).toEqual(rows.map((_, i) => String(i)));
    expect(rows.every((r) => r.kind === `kind ${(Number(r.query_id) + 1) % 300}`)).toBe(true);
    expect(segments).toHaveLength(kill + 1);
    expect(torn.every(({ reason }) => /^cut inside|no batch$/.test(reason))).toBe(true);
  }
});
