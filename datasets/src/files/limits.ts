/** How much a file may ask of this machine. */
export interface ReadLimits {
  /** Most bytes that a packed file may unpack to. */
  readonly unpacked_bytes: number;
  /** Most times its own size that a packed file may unpack to, once `ratio_from_bytes` are unpacked. */
  readonly unpack_ratio: number;
  readonly ratio_from_bytes: number;
  /** Most bytes of one record, and of a JSON file that is one value. */
  readonly record_bytes: number;
  /** Most bytes of one row group or record batch, unpacked. */
  readonly group_bytes: number;
  /** Most UTF-16 code units that all items of a data set may hold together. */
  readonly text_units: number;
}

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** Limits that every published data set keeps well within. */
export const defaultLimits: ReadLimits = {
  unpacked_bytes: 32 * GIB,
  unpack_ratio: 250,
  ratio_from_bytes: 64 * MIB,
  record_bytes: 64 * MIB,
  group_bytes: 2 * GIB,
  text_units: GIB,
};

/** A number of bytes for a message. */
export function inWords(bytes: number): string {
  const [unit, name] = bytes >= GIB ? [GIB, 'GiB'] : bytes >= MIB ? [MIB, 'MiB'] : [1024, 'KiB'];
  return `${+(bytes / unit).toFixed(1)} ${name}`;
}
