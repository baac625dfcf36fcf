import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { extractMember, zipEntries } from './unzip.js';
import { writeZip } from './zip.fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'perwatt-unzip-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
const data = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) % 251));

test.each([
  [8, 'packed'],
  [0, 'stored'],
] as const)('a member by method %i is appended to a file: %s', async (method, _) => {
  const [zip, out] = [at(`${method}.zip`), at(`${method}.out`)];
  writeZip(zip, { 'a/first.txt': Buffer.from('first'), 'a/data.bin': data, empty: Buffer.alloc(0) }, method);
  writeFileSync(out, 'before');
  const seen: number[] = [];
  expect(await extractMember(zip, { member: 'a/data.bin', into: out, onBytes: (n) => seen.push(n) })).toBe(
    data.length,
  );
  expect(await extractMember(zip, { member: 'empty', into: out })).toBe(0);
  expect(readFileSync(out)).toEqual(Buffer.concat([Buffer.from('before'), data]));
  expect(seen.at(-1)).toBe(data.length);
  expect((await zipEntries(zip)).map(({ name, bytes }) => [name, bytes])).toEqual([
    ['a/first.txt', 5],
    ['a/data.bin', data.length],
    ['empty', 0],
  ]);
});

test('what is missing, cut or no archive is said', async () => {
  const zip = at('whole.zip');
  writeZip(zip, { a: data });
  await expect(extractMember(zip, { member: 'b', into: at('x') })).rejects.toThrow(/holds no b/);
  const whole = readFileSync(zip);
  writeFileSync(at('cut.zip'), whole.subarray(0, whole.length - 30));
  await expect(zipEntries(at('cut.zip'))).rejects.toThrow(/is no zip archive/);
  writeFileSync(
    at('hollow.zip'),
    Buffer.concat([whole.subarray(0, 100), Buffer.alloc(whole.length - 200), whole.subarray(-100)]),
  );
  await expect(extractMember(at('hollow.zip'), { member: 'a', into: at('y') })).rejects.toThrow();
});

test('a damaged member does not pass as a shorter one', async () => {
  const zip = at('stored.zip');
  writeZip(zip, { a: Buffer.from('abcdef') }, 0);
  const bytes = readFileSync(zip);
  const entry = bytes.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
  bytes.writeUInt32LE(3, entry + 20);
  writeFileSync(zip, bytes);
  await expect(extractMember(zip, { member: 'a', into: at('z') })).rejects.toThrow(
    'a unpacks to 3 bytes instead of 6',
  );
});
