import { writeFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';

/** Writes a zip archive with the given members, packed or stored; what a wheel is. Its checksums are left 0. */
export function writeZip(path: string, members: Readonly<Record<string, Buffer>>, method: 0 | 8 = 8): void {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, data] of Object.entries(members)) {
    const packed = method === 8 ? deflateRawSync(data) : data;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(Buffer.byteLength(name), 26);
    local.writeUInt16LE(4, 28);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(Buffer.byteLength(name), 28);
    entry.writeUInt32LE(offset, 42);
    const written = Buffer.concat([local, Buffer.from(name), Buffer.alloc(4), packed]);
    parts.push(written);
    directory.push(entry, Buffer.from(name));
    offset += written.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  writeFileSync(path, Buffer.concat([...parts, index, end]));
}
