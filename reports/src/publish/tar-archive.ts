import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { PerwattError } from '@perwatt/core';

const BLOCK = 512;
const LONGEST_NAME = 100;
const LONGEST_PREFIX = 155;

/** Name and folder of a path as a header holds them. Throws `INPUT_INVALID` for one that is too long. */
function headerNames(path: string): { readonly name: string; readonly prefix: string } {
  const fits = (text: string, most: number) => Buffer.byteLength(text) <= most;
  if (fits(path, LONGEST_NAME)) return { name: path, prefix: '' };
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (fits(prefix, LONGEST_PREFIX) && fits(name, LONGEST_NAME)) return { name, prefix };
  }
  throw new PerwattError('INPUT_INVALID', `the path ${path} is too long for an archive`);
}

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;

/** Sizes from 8 GiB on stand in base 256. */
function writeSize(header: Buffer, size: number): void {
  if (size < 8 ** 11) {
    header.write(octal(size, 12), 124, 'latin1');
    return;
  }
  header.writeUInt8(0x80, 124);
  header.writeBigUInt64BE(BigInt(size), 128);
}

/** A ustar header of a plain file without owner or time. */
function headerOf(path: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const { name, prefix } = headerNames(path);
  header.write(name, 0, 'utf8');
  header.write(octal(0o644, 8), 100, 'latin1');
  header.write(octal(0, 8), 108, 'latin1');
  header.write(octal(0, 8), 116, 'latin1');
  writeSize(header, size);
  header.write(octal(0, 12), 136, 'latin1');
  header.write(' '.repeat(8), 148, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  header.write(prefix, 345, 'utf8');
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** The sum of a header's bytes, its checksum field as blanks. */
function checksum(header: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 0x20 : (header[i] ?? 0);
  return sum;
}

const padding = (size: number): number => (BLOCK - (size % BLOCK)) % BLOCK;

async function* packed(folder: string, paths: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const path of paths) {
    const file = join(folder, path);
    const { size } = statSync(file);
    yield headerOf(path, size);
    let read = 0;
    for await (const chunk of createReadStream(file)) {
      read += chunk.length;
      yield chunk;
    }
    if (read !== size) throw new PerwattError('RUN_IN_USE', `${file} changed while it was read`);
    yield Buffer.alloc(padding(size));
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** Sets the byte of the compressed stream that names the system it was made on to "unknown". */
function withoutSystem(): Transform {
  let at = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (at <= 9 && at + chunk.length > 9) chunk[9 - at] = 255;
      at += chunk.length;
      done(null, chunk);
    },
  });
}

/** Packs files of a folder, in the order given, into a gzipped tar that holds no times, owners or system: the same bytes every time. */
export async function packTar(folder: string, paths: readonly string[], out: string): Promise<void> {
  await pipeline(
    Readable.from(packed(folder, paths), { objectMode: false }),
    createGzip({ level: 6 }),
    withoutSystem(),
    createWriteStream(out),
  );
}

/** A plain file of an archive. Its chunks must be read before the next is asked for. */
export interface TarEntry {
  readonly path: string;
  readonly size: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

const broken = (path: string, why: string, cause?: unknown): PerwattError =>
  new PerwattError('INPUT_INVALID', `${path} ${why}`, {
    hint: 'Ask for the archive again: it is damaged, or no bundle.',
    cause,
  });

/** Bytes of a stream, asked for by number. */
class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Up to `most` bytes; none at the end. */
  async some(most: number): Promise<Buffer> {
    while (this.#held.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) return this.#held;
      this.#held = next.value;
    }
    const taken = this.#held.subarray(0, most);
    this.#held = this.#held.subarray(taken.length);
    return taken;
  }

  /** Exactly `length` bytes, fewer only at the end. */
  async exactly(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const part = await this.some(missing);
      if (part.length === 0) break;
      parts.push(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }
}

const textOf = (header: Buffer, from: number, length: number): string => {
  const bytes = header.subarray(from, from + length);
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? length : end);
};

function sizeOf(header: Buffer): number {
  if ((header[124] ?? 0) & 0x80) return Number(header.readBigUInt64BE(128));
  const text = textOf(header, 124, 12).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}

/**
 * The files of a gzipped tar, one after the other, as they stand in it. Throws `INPUT_INVALID` for anything but plain files
 * (links, devices, folders with content), for a damaged header, and where the archive ends early. It trusts no length: what a
 * header says of its size is for the caller to refuse before a byte of it is kept.
 */
export async function* readTar(path: string): AsyncGenerator<TarEntry> {
  const source = createReadStream(path);
  const plain = source.pipe(createGunzip());
  source.on('error', (error) => plain.destroy(error));
  try {
    yield* entriesOf(path, new ByteReader(plain));
  } catch (error) {
    if (error instanceof PerwattError) throw error;
    throw broken(path, 'cannot be unpacked', error);
  } finally {
    source.destroy();
    plain.destroy();
  }
}

async function* entriesOf(path: string, reader: ByteReader): AsyncGenerator<TarEntry> {
  for (;;) {
    const header = await reader.exactly(BLOCK);
    if (header.length < BLOCK) throw broken(path, 'ends in the middle');
    if (header.every((byte) => byte === 0)) return;
    const entry = checkedHeader(path, header);
    let left = entry.size;
    const chunks = async function* (): AsyncGenerator<Uint8Array> {
      while (left > 0) {
        const chunk = await reader.some(Math.min(left, 1 << 16));
        if (chunk.length === 0) throw broken(path, `ends in the middle of ${entry.path}`);
        left -= chunk.length;
        yield chunk;
      }
    };
    yield { ...entry, chunks: chunks() };
    if (left > 0) throw new Error(`entry ${entry.path} was not read`);
    await reader.exactly(padding(entry.size));
  }
}

function checkedHeader(path: string, header: Buffer): Pick<TarEntry, 'path' | 'size'> {
  const sum = Number.parseInt(textOf(header, 148, 8).trim(), 8);
  if (sum !== checksum(header)) throw broken(path, 'holds a damaged header');
  const prefix = textOf(header, 345, LONGEST_PREFIX);
  const name = textOf(header, 0, LONGEST_NAME);
  const full = prefix === '' ? name : `${prefix}/${name}`;
  const kind = String.fromCharCode(header[156] ?? 0);
  if (kind !== '0' && kind !== '\0')
    throw broken(
      path,
      `holds ${JSON.stringify(full)}, which is no plain file (type ${JSON.stringify(kind)})`,
    );
  const size = sizeOf(header);
  if (!Number.isSafeInteger(size) || size < 0) throw broken(path, `holds ${JSON.stringify(full)} of no size`);
  return { path: full, size };
}
