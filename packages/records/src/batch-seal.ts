/** Key of a record batch's own metadata that holds its seal. */
export const SEAL_KEY = 'seal';

const PREFIX = 'crc32:';
const DIGITS = 8;
/** The seal while the checksum is taken. */
export const BLANK_SEAL = `${PREFIX}${'0'.repeat(DIGITS)}`;

/** Writes `crc` into the seal of a batch's head. Throws when it has none. */
export function writeSeal(head: Uint8Array, crc: number): void {
  const digits = sealDigits(head);
  if (digits === null) throw new Error('the head of a record batch has no room for its seal');
  digits.set(Buffer.from(crc.toString(16).padStart(DIGITS, '0'), 'latin1'));
}

/**
 * The checksum in the seal of a batch's head: NaN when it is no number, null when there is no seal. Sets its digits back
 * to zeros, as they were when the checksum was taken.
 */
export function takeSeal(head: Uint8Array): number | null {
  const digits = sealDigits(head);
  if (digits === null) return null;
  const text = Buffer.from(digits).toString('latin1');
  digits.fill(0x30);
  return /^[0-9a-f]+$/.test(text) ? Number.parseInt(text, 16) : Number.NaN;
}

function sealDigits(head: Uint8Array): Uint8Array | null {
  const at = Buffer.from(head.buffer, head.byteOffset, head.byteLength).indexOf(PREFIX);
  const start = at + PREFIX.length;
  return at < 0 || start + DIGITS > head.byteLength ? null : head.subarray(start, start + DIGITS);
}
