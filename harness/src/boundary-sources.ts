import { type MatrixFile, PerwattError, type PowerSource, type Provenance } from '@perwatt/core';

type Named = Pick<PowerSource, 'name' | 'provenance'>;

/** Kinds of energy that are never summed, nor chosen between on the quiet. */
const kindOf = (provenance: Provenance): 'measured' | 'external' | 'estimated' | 'replayed' | 'simulated' =>
  provenance === 'counter' || provenance === 'integrated' || provenance === 'published'
    ? 'measured'
    : provenance;

const kindsOf = (sources: readonly Named[]) => new Set(sources.map(({ provenance }) => kindOf(provenance)));

const list = (sources: readonly Named[]) =>
  sources.map(({ name, provenance }) => `${name} (${provenance})`).join(', ');

/**
 * Names of the sources whose domains may be summed into a cell's energy; null for all of them.
 *
 * Throws `MATRIX_INVALID` when a simulated source would be read beside any other, in or out of the boundary, when measured and
 * estimated sources would meet in one cell, when an external meter is read beside
 * a sensor and `power.boundary` doesn't say which of them a cell's energy is, and when it names a source that isn't read or
 * several that are never summed.
 */
export function boundarySources(
  sources: readonly Named[],
  power: MatrixFile['power'],
): ReadonlySet<string> | null {
  const boundary = power?.boundary;
  const agents = power?.agents ?? [];
  const named = (name: string) =>
    sources.filter(
      (source) =>
        source.name === name || agents.some(({ id }) => id === name && source.name.startsWith(`${id}-`)),
    );
  const chosen = boundary === undefined ? sources : boundary.flatMap(named);
  const unknown = boundary?.find((name) => named(name).length === 0);
  if (unknown !== undefined) {
    const known = list(sources) || 'none';
    throw new PerwattError('MATRIX_INVALID', `power.boundary names "${unknown}", which is not read`, {
      hint: `Name sources that are read: ${known}.`,
    });
  }
  const kinds = kindsOf(chosen);
  if (sources.some(({ provenance }) => provenance === 'simulated') && kindsOf(sources).size > 1) {
    throw new PerwattError(
      'MATRIX_INVALID',
      `simulated power never stands beside what is read: ${list(sources)}`,
      { hint: 'Make a matrix with `simulate` and one of its own for what is measured.' },
    );
  }
  if (kinds.has('estimated') && kinds.size > 1) {
    throw new PerwattError(
      'MATRIX_INVALID',
      `a cell cannot mix measured and estimated energy: ${list(chosen)}`,
      {
        hint: 'Leave the estimator out of `power.sources`, or read nothing else.',
      },
    );
  }
  if (kinds.size > 1) {
    throw new PerwattError(
      'MATRIX_INVALID',
      `${list(chosen)} are not summed, and one of them must be the energy of a cell`,
      {
        hint: `Name it with \`power.boundary\`, for example \`boundary: [${chosen.find(({ provenance }) => kindOf(provenance) !== 'measured')?.name}]\`; the others are shown beside it.`,
      },
    );
  }
  return boundary === undefined ? null : new Set(chosen.map(({ name }) => name));
}
