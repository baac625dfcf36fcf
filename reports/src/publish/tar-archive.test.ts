import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { fc, test as property } from '@fast-check/vitest';
import { PerwattError } from '@perwatt/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSafePath } from './bundle-manifest.js';
import { packTar, readTar } from './tar-archive.js';

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-tar-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function contentOf(path: string): Promise<Record<string, Buffer>> {
  const found: Record<string, Buffer> = {};
  for await (const { path: name, chunks } of readTar(path)) {
    const parts: Uint8Array[] = [];
    for await (const chunk of chunks) parts.push(chunk);
    found[name] = Buffer.concat(parts);
  }
  return found;
}

let folders = 0;
async function packed(files: Readonly<Record<string, Uint8Array>>): Promise<string> {
  folders += 1;
  const folder = join(root, String(folders));
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  const out = join(root, `${folders}.tgz`);
  await packTar(folder, Object.keys(files), out);
  return out;
}

describe('an archive', () => {
  property.prop(
    [
      fc.dictionary(
        fc.stringMatching(/^[a-z]{1,60}(\/[a-z]{1,60}){0,2}$/),
        fc.uint8Array({ maxLength: 2000 }),
        { maxKeys: 4, noNullPrototype: true },
      ),
    ],
    { numRuns: 30 },
  )('gives back what was packed', async (given) => {
    const names = Object.keys(given).filter(
      (name) => !Object.keys(given).some((other) => other.startsWith(`${name}/`)),
    );
    const files = Object.fromEntries(names.map((name) => [name, given[name] ?? new Uint8Array()]));
    const found = await contentOf(await packed(files));
    expect(Object.keys(found)).toEqual(names);
    for (const name of names) expect(found[name]?.equals(Buffer.from(files[name] ?? []))).toBe(true);
  });

  property.prop([fc.uint8Array({ maxLength: 3000 }), fc.boolean()], { numRuns: 60 })(
    'of whatever bytes comes to an end, with one of our errors or none',
    async (bytes, zipped) => {
      const path = join(root, 'any.tgz');
      writeFileSync(path, zipped ? gzipSync(bytes) : bytes);
      await contentOf(path).catch((error: unknown) => expect(error).toBeInstanceOf(PerwattError));
    },
  );

  property.prop([fc.nat(2500), fc.nat(255)], { numRuns: 60 })(
    'with one byte changed gives the same files, others, or an error, and ends',
    async (at, value) => {
      const path = await packed({ 'a/b': Buffer.from('hello'), c: Buffer.alloc(700, 7) });
      const plain = gunzipSync(readFileSync(path));
      plain[at % plain.length] = value;
      writeFileSync(path, gzipSync(plain));
      await contentOf(path).catch((error: unknown) => expect(error).toBeInstanceOf(PerwattError));
    },
  );

  test('holds neither time, owner nor system, and is the same again', async () => {
    const files = { 'x.txt': Buffer.from('x') };
    const [a, b] = [readFileSync(await packed(files)), readFileSync(await packed(files))];
    expect(a.equals(b)).toBe(true);
    expect([...a.subarray(4, 8)]).toEqual([0, 0, 0, 0]);
    expect(a[9]).toBe(255);
    expect(gunzipSync(a).toString('latin1', 100, 148)).toBe(
      '0000644\u00000000000\u00000000000\u000000000000001\u000000000000000\u0000',
    );
  });

  test('takes paths as long as its format does, and no longer', async () => {
    const long = `${'d'.repeat(150)}/${'f'.repeat(100)}`;
    expect(Object.keys(await contentOf(await packed({ [long]: Buffer.from('x') })))).toEqual([long]);
    await expect(packed({ ['f'.repeat(101)]: Buffer.from('x') })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
    });
  });
});

// biome-ignore format: a table is read in columns
test.each([
  ['run/cells/c-1/calls-0.arrows', true,  'a path of ours'],
  ['run/a@b,c=d+e_f:g.json',       true,  'every sign that names have'],
  ['',                             false, 'nothing'],
  ['/etc/passwd',                  false, 'absolute'],
  ['a//b',                         false, 'an empty part'],
  ['a/../b',                       false, 'up'],
  ['a/.b',                         false, 'hidden'],
  ['-rf',                          false, 'an option'],
  ['C:\\x',                        false, 'a path of Windows'],
  ['a\u0000b',                     false, 'a NUL'],
  ['a b',                          false, 'a blank'],
  ['ä',                            false, 'a letter that systems write in two ways'],
  ['x'.repeat(256),                false, 'too long'],
])('%j is safe: %s (%s)', (path, safe, _why) => {
  expect(isSafePath(path)).toBe(safe);
});
