import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { Calibration, messageOf, PerwattError } from '@perwatt/core';
import type { Io } from './io.js';

/** A stored calibration and its file. */
export interface StoredCalibration {
  readonly file: string;
  readonly calibration: Calibration;
}

/** Folder of settings: `PERWATT_CONFIG`, or `perwatt` where the system keeps its users' settings. */
export function configFolder({ env }: Pick<Io, 'env'>): string {
  const own = env['PERWATT_CONFIG'];
  if (own !== undefined && own !== '') return own;
  const xdg = env['XDG_CONFIG_HOME'];
  const base = xdg !== undefined && xdg !== '' ? xdg : join(env['HOME'] ?? homedir(), '.config');
  return join(base, 'perwatt');
}

const folderOf = (io: Pick<Io, 'env'>) => join(configFolder(io), 'calibrations');

/** JSON with sorted keys, so that the same content has one digest. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}

/** The calibration with the digest of the rest of it. */
export const sealed = (calibration: Omit<Calibration, 'sha256'>): Calibration => ({
  ...calibration,
  sha256: createHash('sha256').update(canonical(calibration)).digest('hex'),
});

/** Throws `INPUT_INVALID`, naming the file, for one that isn't a calibration or was changed since. */
function readCalibration(file: string): Calibration {
  const refuse = (why: string, cause?: unknown) =>
    new PerwattError('INPUT_INVALID', `calibration ${file} ${why}`, {
      hint: 'Remove the file, and calibrate again.',
      cause,
    });
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw refuse(`cannot be read: ${messageOf(error)}`, error);
  }
  const { data, error } = Calibration.safeParse(value);
  if (error !== undefined) {
    const problems = error.issues.map(
      ({ path, message }) => `${path.map(String).join('.') || 'the whole'}: ${message}`,
    );
    throw refuse(`is not valid: ${problems.join('; ')}`);
  }
  const { sha256, ...rest } = data;
  if (sealed(rest).sha256 !== sha256) throw refuse('was changed since it was made: its sha256 differs');
  return data;
}

/** Every calibration in the folder of settings, by name. */
export function storedCalibrations(io: Pick<Io, 'env'>): StoredCalibration[] {
  const folder = folderOf(io);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => ({ file: join(folder, name), calibration: readCalibration(join(folder, name)) }));
}

/** Calibrations of this host's sources; one made on another host says nothing here. */
export const calibrationsHere = (io: Pick<Io, 'env'>, host = hostname()): Calibration[] =>
  storedCalibrations(io).flatMap(({ calibration }) => (calibration.host === host ? [calibration] : []));

/** Where the calibration of a source of a host is stored, so that a new one takes the place of the last. */
export const calibrationFile = (
  io: Pick<Io, 'env'>,
  { source, host }: Pick<Calibration, 'source' | 'host'>,
) => join(folderOf(io), `${`${host}-${source}`.replaceAll(/[^A-Za-z0-9._-]/g, '_')}.json`);

/** Writes a calibration, whole or not at all. */
export function writeCalibration(file: string, calibration: Calibration): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, `${JSON.stringify(calibration, null, 2)}\n`);
    renameSync(`${file}.new`, file);
  } catch (error) {
    throw new PerwattError('FILE_UNREADABLE', `cannot write ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Removes the stored calibrations of a source of this host. Throws `INPUT_INVALID` when there is none. */
export function removeCalibration(io: Pick<Io, 'env'>, source: string, host = hostname()): string {
  const file = calibrationFile(io, { source, host });
  if (!existsSync(file)) {
    const known = calibrationsHere(io, host).map((own) => own.source);
    throw new PerwattError('INPUT_INVALID', `no calibration of "${source}" is stored for ${host}`, {
      hint: known.length === 0 ? 'None is stored at all.' : `Name one of: ${known.join(', ')}.`,
    });
  }
  rmSync(file);
  return file;
}
