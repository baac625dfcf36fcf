import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 0xffff;
const ZIP64_MARK = 0xffffffff;
const STORED = 0;
const DEFLATED = 8;

/** One file inside a zip archive. */
export interface ZipEntry {
  readonly name: string;
  readonly method: number;
  readonly packed_bytes: number;
  readonly bytes: number;
  readonly header_offset: number;
}

/** Lists the files of a zip archive (a Python wheel is one). Throws for what is none, and for the 64-bit form. */
export async function zipEntries(path: string): Promise<readonly ZipEntry[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const tail = await readAt(file, Math.max(0, size - END_BYTES - LONGEST_COMMENT), size);
    const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
    if (end < 0 || tail.length - end < END_BYTES || tail.readUInt32LE(end) !== END_SIGNATURE)
      throw new Error(`${path} is no zip archive`);
    const bytes = tail.readUInt32LE(end + 12);
    const offset = tail.readUInt32LE(end + 16);
    if (offset === ZIP64_MARK || bytes === ZIP64_MARK)
      throw new Error(`${path} is a zip archive of 64-bit form`);
    return directory(await readAt(file, offset, offset + bytes), path);
  } finally {
    await file.close();
  }
}

function directory(data: Buffer, path: string): ZipEntry[] {
  const entries: ZipEntry[] = [];
  let at = 0;
  while (at + 46 <= data.length) {
    if (data.readUInt32LE(at) !== ENTRY_SIGNATURE) throw new Error(`${path} has a damaged directory`);
    const name_bytes = data.readUInt16LE(at + 28);
    entries.push({
      name: data.toString('utf8', at + 46, at + 46 + name_bytes),
      method: data.readUInt16LE(at + 10),
      packed_bytes: data.readUInt32LE(at + 20),
      bytes: data.readUInt32LE(at + 24),
      header_offset: data.readUInt32LE(at + 42),
    });
    at += 46 + name_bytes + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
  }
  return entries;
}

export interface ExtractOptions {
  readonly member: string;
  /** File that the member's bytes are appended to. */
  readonly into: string;
  readonly onBytes?: (done: number) => void;
  readonly signal?: AbortSignal | undefined;
}

/** Appends one member of a zip archive to a file, in bounded memory. Returns its size in bytes. */
export async function extractMember(path: string, options: ExtractOptions): Promise<number> {
  const entry = (await zipEntries(path)).find(({ name }) => name === options.member);
  if (entry === undefined) throw new Error(`${path} holds no ${options.member}`);
  if (entry.method !== STORED && entry.method !== DEFLATED)
    throw new Error(`${options.member} is packed by method ${entry.method}, which is not known here`);
  const start = await dataOffset(path, entry);
  let done = 0;
  const count = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      done += chunk.length;
      options.onBytes?.(done);
      yield chunk;
    }
  };
  if (entry.packed_bytes > 0)
    await pipeline(
      createReadStream(path, { start, end: start + entry.packed_bytes - 1, highWaterMark: 1 << 20 }),
      entry.method === DEFLATED ? createInflateRaw({ chunkSize: 1 << 18 }) : new PassThrough(),
      count,
      createWriteStream(options.into, { flags: 'a' }),
      options.signal === undefined ? {} : { signal: options.signal },
    );
  if (done !== entry.bytes)
    throw new Error(`${options.member} unpacks to ${done} bytes instead of ${entry.bytes}`);
  return done;
}

/** Where a member's data begins: its local header has name and extra fields of its own lengths. */
async function dataOffset(path: string, { name, header_offset }: ZipEntry): Promise<number> {
  const file = await open(path);
  try {
    const header = await readAt(file, header_offset, header_offset + 30);
    if (header.length < 30 || header.readUInt32LE(0) !== LOCAL_SIGNATURE)
      throw new Error(`${name} has a damaged header`);
    return header_offset + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
  return buffer.subarray(0, bytesRead);
}
