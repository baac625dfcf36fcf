import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exportRun, openRun, SegmentWriter } from '@perwatt/records';
import { unpackBundle } from '@perwatt/reports';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordedIo } from '../io.fixture.js';
import type { Io } from '../io.js';
import { bundleCommand } from './bundle.js';
import { publishCommand } from './publish.js';
import { reportCommand } from './report.js';

const golden = fileURLToPath(new URL('../../../../reports/golden/run.tgz', import.meta.url));

/** Names and keys that must not come out anywhere; the host and the user may stand in a report of one's own. */
const keys = {
  inEnv: 'CanaryEnvValue1',
  inEngine: 'canary-engine-key-2',
  inFlag: 'canaryflag3',
  inAddress: 'canarypass4',
  inError: 'sk-canary5canary5canary5',
  inText: 'hf_canary6canary6canary6',
};
const names = { host: 'canaryhost-7', user: 'canaryuser8', endpoint: 'canarybox-9.lan' };
const env = {
  LAB_API_KEY: keys.inEnv,
  USER: names.user,
  HOME: `/srv/homes/${names.user}`,
  PATH: '',
};

let root = '';
let run = '';
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-publish-'));
  await unpackBundle(golden, { into: join(root, 'golden'), most_bytes: 1e9 });
  run = join(root, 'golden/run');
  plant();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Puts a canary into every place that a key or name has been seen in: matrix, engines, errors, texts, paths. */
function plant(): void {
  const file = join(run, 'run.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8'));
  manifest.host.hostname = names.host;
  manifest.left_out = [
    { what: 'model x', reason: `/home/${names.user}/x.gguf of ${names.host}: ${keys.inError}` },
  ];
  manifest.matrix.endpoints = {
    e: { url: `http://me:${keys.inAddress}@${names.endpoint}:1/v1`, api_key_env: 'LAB_API_KEY' },
  };
  manifest.matrix.engines = {
    x: { kind: 'command', command: ['serve', '--api-key', keys.inFlag], env: { HF_TOKEN: keys.inEngine } },
  };
  writeFileSync(file, JSON.stringify(manifest));
  const opened = openRun(run);
  const [cell] = opened.cells();
  const all = Object.values({ ...keys, ...names }).join(' ');
  const folder = opened.cellFolder(cell!.cell_id);
  const metadata = { run_id: cell!.run_id, cell_id: cell!.cell_id };
  const texts = SegmentWriter.create({
    folder,
    file: 'texts-0.arrows',
    table: 'texts',
    sitting: 0,
    metadata,
  });
  const rows = opened.readQueries(cell!.cell_id).rows;
  texts.append(
    rows.flatMap(({ query_id }) =>
      ['prompt', 'answer'].map((kind) => ({
        ...metadata,
        query_id,
        call_id: null,
        sitting: 0,
        kind,
        text: `What is ${all}?`,
        detail: null,
      })),
    ),
  );
  opened.writeCell({
    ...cell!,
    failure: `401: Bearer ${keys.inError}; ${all}`,
    segments: [...cell!.segments, texts.close()],
  });
}

async function told(command: (io: Io) => Command, ...args: readonly string[]) {
  const { io, result } = recordedIo({ cwd: root, env });
  await command(io)
    .exitOverride()
    .parseAsync([...args], { from: 'user' });
  return { code: result.code, out: [...result.out, ...result.err].join('\n') };
}

/** Files of a folder that hold one of the words, in whatever case. */
function holding(folder: string, words: readonly string[]): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path).toString('latin1').toLowerCase();
    return words.filter((word) => text.includes(word.toLowerCase())).map((word) => `${entry.name}: ${word}`);
  });
}

const everything = [...Object.values(keys), ...Object.values(names), 'canary'];

describe('no canary', () => {
  test('that is a key comes out in a report', async () => {
    const { out } = await told(reportCommand, run, '--out', join(root, 'report'));
    expect(holding(run, [keys.inText])).not.toEqual([]);
    expect(holding(join(root, 'report'), Object.values(keys))).toEqual([]);
    expect(readFileSync(join(root, 'report/results.json'), 'utf8')).toContain(names.host);
    for (const key of Object.values(keys)) expect(out).not.toContain(key);
  });

  test('comes out in a publication, which is made without a browser too, and says what is missing', async () => {
    const out = join(root, 'publication');
    const { out: lines, code } = await told(publishCommand, run, '--out', out);
    expect(code).toBe(0);
    expect(lines).toMatch(/warning: no figures: no Chromium or Chrome was found\. Install Chromium/);
    expect(lines).toMatch(/taken out: \d+ host names, \d+ user names, \d+ home folders, \d+ texts with keys/);
    expect(holding(out, everything)).toEqual([]);
    expect(existsSync(join(out, 'figures'))).toBe(false);
    expect(readFileSync(join(out, 'DATA_CARD.md'), 'utf8')).toContain('no figures: no Chromium');
    expect(readFileSync(join(out, 'results.json'), 'utf8')).toContain('host-1');
  });

  test.each([
    ['with texts', []],
    ['without texts', ['--no-texts']],
  ])('comes out in a bundle %s, of which all still holds', async (name, flags) => {
    const file = join(root, `${name}.tgz`);
    await told((io) => bundleCommand(io, '0.1.0'), run, '--out', file, ...flags);
    const into = join(root, name);
    const checked = await told((io) => bundleCommand(io, '0.1.0'), 'check', file, '--into', into);
    expect(checked.out).toMatch(/everything holds$/);
    expect(holding(into, everything)).toEqual([]);
    const tables = join(root, `${name} tables`);
    const { files } = await exportRun(join(into, 'run'), { format: 'json', out: tables });
    expect(holding(tables, everything)).toEqual([]);
    expect(files.find(({ table }) => table === 'texts')?.rows).toBe(flags.length === 0 ? 48 : 0);
  });
});

test('a publication of several runs, without figures, has what it is asked to say', async () => {
  await unpackBundle(golden, { into: join(root, 'other'), most_bytes: 1e9 });
  const file = join(root, 'other/run/run.json');
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/"run_id": "[^"]+"/g, '"run_id": "second"'));
  const out = join(root, 'both');
  const { out: lines } = await told(
    publishCommand,
    run,
    join(root, 'other/run'),
    '--out',
    out,
    '--no-figures',
    '--title',
    'Two runs',
    '--author',
    'Doe, Jane',
    '--licence',
    'CC0-1.0',
    '--json',
  );
  expect(JSON.parse(lines)).toMatchObject({
    out,
    missing: [],
    runs: [expect.stringContaining('golden'), 'second'],
  });
  expect(readdirSync(join(out, 'runs'))).toHaveLength(2);
  expect(readFileSync(join(out, 'CITATION.cff'), 'utf8')).toContain('license: "CC0-1.0"');
  expect(readFileSync(join(out, 'report/index.html'), 'utf8')).toContain('second');
});

test('a damaged run is not published', async () => {
  const copy = join(root, 'damaged');
  cpSync(run, copy, { recursive: true });
  const [cell = ''] = readdirSync(join(copy, 'cells'));
  rmSync(join(copy, 'cells', cell, 'calls-0.arrows'));
  await expect(told(publishCommand, copy, '--out', join(root, 'never'))).rejects.toMatchObject({
    code: 'RUN_INVALID',
  });
  expect(existsSync(join(root, 'never'))).toBe(false);
});

test('a browser that is named and not there is one clear error', async () => {
  const { io } = recordedIo({ cwd: root, env: { ...env, PERWATT_CHROMIUM: '/nowhere/chromium' } });
  mkdirSync(join(root, 'empty'));
  await expect(
    publishCommand(io).parseAsync([run, '--out', 'empty'], { from: 'user' }),
  ).rejects.toMatchObject({
    code: 'INPUT_INVALID',
    message: expect.stringContaining('/nowhere/chromium'),
  });
  expect(readdirSync(join(root, 'empty'))).toEqual([]);
});
