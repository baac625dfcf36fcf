import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type KernelRow, PerwattError, SCHEMA_VERSION } from '@perwatt/core';
import * as z from 'zod';
import type { SegmentSource } from './compact-table.js';
import { makeFolder } from './durable-file.js';
import { fileError } from './file-errors.js';
import { isFileName } from './file-names.js';
import { parseJsonFile, readTextIfThere, writeJsonFile } from './json-file.js';
import type { HostFacts, SegmentEntry } from './manifest.js';
import { readTable, segmentFiles, type TornSegment } from './read-tables.js';
import { SegmentWriter } from './segment-writer.js';

/** One kernel of a model's step, as its rows name it, and how often the step launches it. */
export interface StepKernel {
  readonly kernel: string;
  readonly dtype: string;
  /** Sizes by the names of their columns; those that it hasn't are left out. */
  readonly sizes: Readonly<Record<string, number>>;
  readonly options: string | null;
  readonly launches: number;
  /** Parts of the model that it stands for: `q`, `gate`, `attention` … */
  readonly parts: readonly string[];
}

/** One step of a model that kernels were run for. */
export interface KernelStep {
  /** Model by its id in the catalogue, and the names it goes by in matrices. */
  readonly model: string;
  readonly names: readonly string[];
  readonly phase: 'decode' | 'prefill';
  readonly batch: number;
  readonly context: number;
  readonly weights: string;
  readonly activations: string;
  readonly kernels: readonly StepKernel[];
}

/** A device that a session ran on, as it was found. */
export interface KernelDeviceFacts {
  readonly id: string;
  readonly name: string;
  readonly backend: string;
  readonly kind: string;
  readonly driver: string | null;
  readonly memory_bytes: number | null;
  readonly notes: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** What a session of kernel runs says of itself. */
export interface KernelSessionFacts {
  readonly phase: 'alone' | 'before' | 'after';
  readonly perwatt_version: string;
  /** ISO 8601, UTC. */
  readonly wall_time: string;
  readonly host: HostFacts | null;
  readonly devices: readonly KernelDeviceFacts[];
  /** Backends that reach no device here, with the reason. */
  readonly absent: readonly { readonly backend: string; readonly reason: string }[];
  readonly steps: readonly KernelStep[];
}

/** A coefficient of a fit. */
export interface FitCoefficient {
  /** At least 0. */
  readonly value: number;
  /** Half the width of its two-sided 95 % interval; null for one that is held at 0. */
  readonly half_width: number | null;
}

/** Energy of a launch as FLOP × `flop_j` + bytes × `byte_j` + time × `constant_w`: a description of one sweep, no hardware constants. */
export interface EnergyFit {
  readonly label: 'fit';
  /** J per FLOP. */
  readonly flop_j: FitCoefficient;
  /** J per byte. */
  readonly byte_j: FitCoefficient;
  /** W drawn whatever is computed. */
  readonly constant_w: FitCoefficient;
  readonly points: number;
  /** (fitted − measured) / measured of each point. */
  readonly residuals: readonly { readonly flop_per_byte: number; readonly ratio: number }[];
  /** Root of their mean square. */
  readonly rms_ratio: number;
}

/** The fit of one sweep over intensities, of one implementation on one device in one type. */
export interface KernelFit {
  readonly device: string;
  readonly device_name: string;
  readonly implementation: string;
  readonly dtype: string;
  /** Boundary and origin of its joules; null without any. */
  readonly scope: string | null;
  readonly provenance: string | null;
  /** Null with a reason. */
  readonly fit: EnergyFit | null;
  readonly reason: string | null;
}

/** A session in `kernels/kernels.json`. */
export interface KernelSession extends KernelSessionFacts {
  readonly session: number;
  /** How it ended; null while it goes on, and for ever when its process was killed. */
  readonly ended: 'done' | 'interrupted' | null;
  /** Segment of its rows; null while it goes on, and for ever when its process was killed. */
  readonly segment: SegmentEntry | null;
  /** Fits of its sweeps as they were told; the rows give them again. Missing where there was no sweep. */
  readonly fits?: readonly KernelFit[];
}

interface KernelFile {
  readonly schema_version: number;
  readonly run_id: string;
  readonly sessions: readonly KernelSession[];
}

const Segment = z.looseObject({
  file: z.string().refine(isFileName, 'expected the name of a file in the same folder'),
  table: z.literal('kernels'),
  rows: z.int().min(0),
  bytes: z.int().min(0),
  sha256: z.string(),
});

const KernelFileSchema = z.looseObject({
  schema_version: z.int().min(1),
  run_id: z.string(),
  sessions: z.array(
    z.looseObject({
      session: z.int().min(0),
      phase: z.enum(['alone', 'before', 'after']),
      ended: z.enum(['done', 'interrupted']).nullable(),
      devices: z.array(z.looseObject({ id: z.string(), name: z.string() })),
      absent: z.array(z.looseObject({ backend: z.string(), reason: z.string() })),
      steps: z.array(
        z.looseObject({
          model: z.string(),
          names: z.array(z.string()),
          phase: z.enum(['decode', 'prefill']),
          batch: z.int().min(1),
          kernels: z.array(z.looseObject({ launches: z.number(), parts: z.array(z.string()) })),
        }),
      ),
      segment: Segment.nullable(),
    }),
  ),
});

const FOLDER = 'kernels';
const FILE = 'kernels.json';

/** Whether a folder holds kernel sessions: a run's, or one of their own. */
export const hasKernels = (path: string): boolean => existsSync(join(path, FOLDER, FILE));

/** A session of kernel runs being written. Rows are on the disk when `append` returns. */
export interface KernelWriter {
  readonly run_id: string;
  readonly session: number;
  append(rows: readonly KernelRow[]): void;
  /** Closes the rows and notes them in `kernels.json`, with how the session ended and its fits. Safe to call twice. */
  close(ended: 'done' | 'interrupted', fits?: readonly KernelFit[]): void;
}

/**
 * Opens the next session of kernel runs in the folder `path`: a run's, or one of their own, which is made where it is missing.
 * Sessions before it stay as they are. Throws `RUN_INVALID` where `kernels.json` there is broken.
 */
export function openKernelSession(path: string, facts: KernelSessionFacts): KernelWriter {
  const folder = join(path, FOLDER);
  try {
    makeFolder(folder);
  } catch (error) {
    throw fileError(error, folder);
  }
  const before = fileAt(path) ?? freshFile(path);
  const session = Math.max(-1, ...before.sessions.map((known) => known.session)) + 1;
  const { run_id } = before;
  const writer = SegmentWriter.create({
    folder,
    file: `kernels-${session}.arrows`,
    table: 'kernels',
    sitting: session,
    metadata: { run_id },
  });
  const write = ({ ended, segment, fits = [] }: Pick<KernelSession, 'ended' | 'segment' | 'fits'>) => {
    const { sessions } = fileAt(path) ?? before;
    const others = sessions.filter((known) => known.session !== session);
    writeJsonFile(join(folder, FILE), {
      ...before,
      sessions: [...others, { session, ...facts, ended, segment, ...(fits.length > 0 && { fits }) }],
    });
  };
  write({ ended: null, segment: null });
  let closed = false;
  return {
    run_id,
    session,
    append(rows) {
      writer.append(rows);
      writer.flush();
    },
    close(ended, fits = []) {
      if (closed) return;
      closed = true;
      write({ ended, segment: writer.close(), fits });
    },
  };
}

const freshFile = (path: string): KernelFile => ({
  schema_version: SCHEMA_VERSION,
  run_id: basename(resolve(path)),
  sessions: [],
});

function fileAt(path: string): KernelFile | null {
  const file = join(path, FOLDER, FILE);
  const text = readTextIfThere(file);
  return text === null ? null : parseJsonFile<KernelFile>(file, text, KernelFileSchema);
}

/** All kernel runs of a folder. */
export interface KernelRecords {
  readonly run_id: string;
  readonly sessions: readonly KernelSession[];
  /** In the order they were written. */
  readonly rows: readonly KernelRow[];
  /** What is not as it was written. */
  readonly torn: readonly TornSegment[];
}

/** The kernel runs of the folder `path`; null where it has none. Throws `RUN_INVALID` where `kernels.json` is broken. */
export function readKernels(path: string): KernelRecords | null {
  const file = fileAt(path);
  if (file === null) return null;
  const { run_id, sessions } = file;
  const entries = sessions.flatMap(({ segment }) => segment ?? []);
  const { rows, torn } = readTable(join(path, FOLDER), 'kernels', entries);
  return { run_id, sessions, rows, torn };
}

/** The same. Throws `RUN_NOT_FOUND` where there are none. */
export function kernelsOf(path: string): KernelRecords {
  const found = readKernels(path);
  if (found !== null) return found;
  throw new PerwattError(
    'RUN_NOT_FOUND',
    `no kernel runs at ${path}: ${join(path, FOLDER, FILE)} is missing`,
    {
      hint: 'Give a folder that `perwatt kernels run` made, or a run whose matrix has `kernels`.',
    },
  );
}

/** Segments of the kernel runs of a folder, in order: those there, and those that were closed. */
export function kernelSegments(path: string): SegmentSource[] {
  const folder = join(path, FOLDER);
  const entries = fileAt(path)?.sessions.flatMap(({ segment }) => segment ?? []) ?? [];
  const present = segmentFiles(folder, 'kernels');
  const missing = entries.map(({ file }) => file).filter((file) => !present.includes(file));
  return [...present, ...missing].map((file) => ({
    path: join(folder, file),
    entry: entries.find((entry) => entry.file === file) ?? null,
  }));
}
