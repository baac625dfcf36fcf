// What it costs to look at a run: a process writes 1,000 calls a second and twenty samples a second, as a run does, and
// `perwatt view` follows it with its page's events open. Its CPU time as a share of one core, and the bytes that it read.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { calls } from '@perwatt/core';
import { createRun, SegmentWriter } from '@perwatt/records';
import { createRunWatch, startViewServer } from '@perwatt/reports';
import { cellFile, manifest, powerFile } from './view/live-run.mjs';

const limits = { core_ratio: 0.02 };
const PER_SECOND = 1000;
const self = fileURLToPath(import.meta.url);
const blanks = { name: '', text: '', bool: false, uint64: 0n, int64: 0n, list_float64: [] };

export async function run({ long = false, seconds = long ? 60 : 20 } = {}) {
  const root = mkdtempSync(join(process.env.PERWATT_BENCH_DIR ?? tmpdir(), 'perwatt-view-'));
  const folder = createRun(root, manifest);
  folder.updateManifest({ power: [powerFile] });
  folder.writeCell(cellFile);
  const writer = spawn(process.execPath, [self, '--write', folder.path, String(seconds)], {
    stdio: 'inherit',
  });
  const ended = new Promise((resolve) => {
    writer.on('exit', resolve);
  });
  const watch = createRunWatch(folder.path);
  const server = await startViewServer({ watch, token: 'bench', port: 0, period_ms: 1000 });
  let last = '';
  const client = get(`${server.url}events`, (response) => {
    response.setEncoding('utf8').on('data', (text) => {
      last = text;
    });
  });
  client.on('error', () => {});
  try {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    const [before, began] = [process.cpuUsage(), performance.now()];
    await ended;
    const { user, system } = process.cpuUsage(before);
    const wall_s = (performance.now() - began) / 1000;
    const core_ratio = (user + system) / 1e6 / wall_s;
    const state = watch.look();
    const written =
      statSync(join(folder.cellFolder(cellFile.cell_id), 'calls-0.arrows')).size +
      statSync(join(folder.powerFolder, powerFile.file)).size;
    const lines = [
      `${state.cells[0].calls} calls of ${seconds * PER_SECOND} followed, ${state.calls_per_s?.toFixed(0)} calls/s, ${state.power.total_w?.toFixed(1)} W`,
      `${(100 * core_ratio).toFixed(2)} % of a core over ${wall_s.toFixed(1)} s (limit ${100 * limits.core_ratio} %)`,
      `${state.bytes_read} bytes read of ${written} written, ${last.length} characters an event`,
    ];
    const passed =
      state.cells[0].calls === seconds * PER_SECOND &&
      core_ratio <= limits.core_ratio &&
      state.bytes_read < 1.1 * written + 1e5;
    return { passed, lines, data: { core_ratio, wall_s, bytes_read: state.bytes_read, written } };
  } finally {
    client.destroy();
    await server.close();
    writer.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  }
}

/** Writes a run's calls and samples at its pace: what a run has of two seconds at a time. */
async function write(path, seconds) {
  const [cells, power] = [join(path, 'cells', cellFile.cell_id), join(path, 'power')];
  const open = (folder, file, table) =>
    SegmentWriter.create({ folder, file, table, sitting: 0, metadata: {} });
  const [callWriter, sampleWriter] = [
    open(cells, 'calls-0.arrows', 'calls'),
    open(power, powerFile.file, 'samples'),
  ];
  const blank = Object.fromEntries(
    Object.entries(calls).map(([name, { type, nullable }]) => [name, nullable ? null : (blanks[type] ?? 0)]),
  );
  const began = performance.now();
  for (let at = 0; at < seconds; at += 2) {
    await new Promise((resolve) =>
      setTimeout(resolve, Math.max(0, began + 1000 * (at + 2) - performance.now())),
    );
    callWriter.append(
      Array.from({ length: 2 * PER_SECOND }, (_, i) => ({
        ...blank,
        run_id: 'bench',
        cell_id: cellFile.cell_id,
        query_id: `${cellFile.cell_id}/item ${at * PER_SECOND + i}/0`,
        call_id: '0',
        phase: 'measure',
        status: 'ok',
        end_ns: BigInt(Math.round((at + i / PER_SECOND) * 1e9)),
        completion_tokens: 40,
        icl_ns: Array.from({ length: 39 }, (_, n) => 1e6 + n),
      })),
    );
    callWriter.flush();
    sampleWriter.append(
      Array.from({ length: 40 }, (_, i) => {
        const t = at + i / 20;
        const joules = { booked_energy_j: 30 * t, booked_lo_j: 30 * t, booked_hi_j: 30 * t };
        return {
          at_ns: BigInt(Math.round(t * 1e9)),
          read_ns: 1,
          domain: powerFile.domains[0].id,
          raw: 1n,
          unit: 'uj',
          event: 'ok',
          ...joules,
          power_w: null,
        };
      }),
    );
    sampleWriter.flush();
  }
  callWriter.close();
  sampleWriter.close();
}

const [, script, flag, path, seconds] = process.argv;
if (script === self && flag === '--write') await write(path, Number(seconds));
