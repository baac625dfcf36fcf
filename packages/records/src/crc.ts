import { crc32 } from 'node:zlib';

/** CRC-32 going on from `start` over `bytes`. zlib itself starts anew at an empty array. */
export const crcOf = (bytes: Uint8Array, start: number): number =>
  bytes.byteLength === 0 ? start : crc32(bytes, start);
