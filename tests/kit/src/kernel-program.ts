import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an implementation of the program does when it is run. */
export type KernelBehaviour =
  | 'ok'
  | 'wrong'
  | 'compile'
  | 'no_memory'
  | 'lost'
  | 'abort'
  | 'kill'
  | 'hang'
  | 'exit'
  | 'babble'
  | 'silent_end';

/** What the program is like. */
export interface KernelScript {
  /** Implementations by the kind of the kernel. */
  readonly kernels?: Readonly<Record<string, readonly KernelBehaviour[]>>;
  /** What happens when a backend is looked at; `ok` has one device, `absent` none. */
  readonly backends?: Readonly<Record<string, KernelBehaviour | 'absent'>>;
  /** What happens when the device is opened. */
  readonly opens?: KernelBehaviour | 'refused';
  /** Whether it runs what it is told to leave out. */
  readonly deaf?: boolean;
}

/** The device that it shows. */
export const kernelDevice = {
  id: 'cpu:0',
  backend: 'cpu',
  name: 'A processor',
  kind: 'cpu',
  driver: null,
  hardware_id: null,
  memory_bytes: 2 ** 33,
  max_buffer_bytes: null,
  last_level_cache_bytes: 2 ** 25,
  compute_units: 2,
  notes: [] as string[],
  environment: {},
} as const;

const source = (script: KernelScript) => `
import { readFileSync, writeSync } from 'node:fs';
const script = ${JSON.stringify(script)};
const request = JSON.parse(readFileSync(0, 'utf8'));
const send = (event) => writeSync(3, JSON.stringify(event) + '\\n');
const deeds = {
  abort() { process.stderr.write('munmap_chunk(): invalid pointer\\n'); process.kill(process.pid, 'SIGABRT'); },
  kill() { process.kill(process.pid, 'SIGKILL'); },
  hang() {},
  exit() { process.stderr.write('no luck\\n'); process.exit(3); },
  babble() { writeSync(3, 'a library says hello\\n'); },
  silent_end() { process.exit(0); },
};
const wait = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
const come = (deed) => { if (deed in deeds) { deeds[deed](); wait(); } };
const refusals = {
  compile: ['KERNEL_COMPILE', 'kernel stream does not compile: expected ";"'],
  no_memory: ['KERNEL_OUT_OF_MEMORY', 'out of memory: buffer a of 99 bytes'],
  lost: ['KERNEL_DEVICE_LOST', 'device cpu was lost: illegal address'],
};
const told = (kind, implementation, deed) => {
  const refusal = refusals[deed];
  if (refusal === undefined) return result(kind, implementation, deed);
  const [error_code, error_message] = refusal;
  return { ...result(kind, implementation, 'failed'), error_code, error_message, timing: null, check_before: null, check_after: null };
};
const result = (kind, implementation, status) => ({
  spec: { kind },
  implementation_id: implementation, backend: 'cpu', status,
  error_code: status === 'ok' ? null : 'KERNEL_WRONG', error_message: status === 'ok' ? null : 'too far off',
  convention: 'flop/1', flop: 1000, bytes: 500,
  check_before: { relative_error: 1e-7, limit: 1e-5 }, check_after: { relative_error: 2e-7, limit: 1e-5 },
  timing: {
    launch_ns: 50, deviation_ratio: 0.02, rotated_sets: 4, clock: 'host', host_difference_ratio: null, stopped: 'settled',
    batches: [49, 50, 51].map((ns) => ({ launches: 10, device_ns: null, host_ns: 10 * ns })), health_before: null, health_after: null,
  },
  cold: null, cold_reason: 'no caches', energy: null, energy_reason: 'no counter', flags: ['one-set'],
});
if (request.kind === 'list') {
  for (const [backend, deed] of Object.entries(script.backends ?? {})) {
    if (!script.deaf && request.skip.includes(backend)) continue;
    send({ event: 'probe', backend });
    come(deed);
    if (deed === 'absent') send({ event: 'unavailable', backend, error_code: 'KERNEL_NO_LOADER', reason: 'no library' });
    else send({ event: 'device', device: { ...${JSON.stringify(kernelDevice)}, id: backend + ':0', backend }, supports: request.specs.map((spec) => ({ spec, implementations: script.kernels?.[spec.kind] ?? [], reason: null })) });
  }
} else {
  come(script.opens ?? 'ok');
  if (script.opens === 'refused') send({ event: 'failed', error_code: 'KERNEL_NO_DEVICE', reason: 'no device cpu:9' });
  else cells: for (const { index, spec, skip } of request.cells) {
    for (const [i, deed] of (script.kernels?.[spec.kind] ?? []).entries()) {
      const implementation = deed + i;
      if (!script.deaf && skip.includes(implementation)) continue;
      send({ event: 'start', index, implementation });
      send({ event: 'phase', index, phase: 'time' });
      come(deed);
      send({ event: 'result', index, start_ns: '10', end_ns: '20', provenance: null, row: told(spec.kind, implementation + '-1.0', deed) });
      if (deed === 'lost') break cells;
    }
    send({ event: 'end', index });
  }
}
send({ event: 'done' });
`;

let programs = 0;

/** Writes a real program that answers as `script` says into `folder`. */
export function scriptedKernels(folder: string, script: KernelScript): { file: string; args: string[] } {
  const path = join(folder, `program-${programs++}.mjs`);
  writeFileSync(path, source(script));
  return { file: process.execPath, args: [path] };
}
