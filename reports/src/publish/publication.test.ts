import {
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
import { copyRun, openRun, type RunFolder } from '@perwatt/records';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildResults } from '../build-results.js';
import { syntheticRun } from '../synthetic-run.fixture.js';
import { readPlotlySource } from '../write-report.js';
import { markdownText } from './data-card.js';
import { drawFigures } from './draw-figures.js';
import { latexText } from './latex-table.js';
import { privateFactsOf } from './private-facts.js';
import { filesBelow, sha256Of } from './publication-files.js';
import { PublicationSummary, summaryJsonSchema } from './publication-summary.js';
import { createRedactor } from './redactor.js';
import { publicationFigures, writePublication } from './write-publication.js';

const CHROMIUM = '/usr/bin/chromium';
let root = '';
let run: RunFolder;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'perwatt-publication-'));
  run = syntheticRun({ root, items: 4, models: ['tiny', '=cmd|x', 'a_b & {c}'], strategies: ['single'] });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const options = {
  title: 'Two *tiny* models',
  authors: ['Doe, Jane', 'The lab'],
  licence: 'CC-BY-4.0',
  url: null,
  redacted: { hosts: 1, users: 0, home_paths: 0, secrets: 0, texts: false },
  draw: null,
  missing: ['no figures: there is no browser'],
  report: async (_sources: unknown, folder: string) => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'index.html'), '');
  },
} as const;

const published = async (name: string, runs: readonly RunFolder[] = [run]) => {
  const out = join(root, name);
  await writePublication(
    out,
    runs.map((one) => ({ run: one, results: buildResults(one) })),
    options,
  );
  return out;
};

describe('a publication', () => {
  test('has every part, checksums of all of them, and the same bytes again', async () => {
    const [a, b] = [await published('first'), await published('second')];
    const files = filesBelow(a);
    expect(files).toEqual(filesBelow(b));
    for (const file of files)
      expect(readFileSync(join(a, file)).equals(readFileSync(join(b, file))), file).toBe(true);
    expect(files).toEqual(
      expect.arrayContaining([
        'CITATION.cff',
        'DATA_CARD.md',
        'SHA256SUMS',
        'data/calls.parquet',
        'data/cells.parquet',
        'data/queries.parquet',
        'data/samples.parquet',
        'data/texts.parquet',
        'report/index.html',
        'results.csv',
        'results.json',
        'results.parquet',
        'summary.json',
        'summary.schema.json',
        'tables/results.md',
        'tables/results.tex',
      ]),
    );
    const sums = readFileSync(join(a, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
    expect(sums).toHaveLength(files.length - 1);
    for (const line of sums) {
      const [sha256 = '', file = ''] = line.split('  ');
      expect(await sha256Of(join(a, file))).toBe(sha256);
    }
  });

  test('has a summary that its own schema describes', async () => {
    const out = await published('summary');
    const summary = PublicationSummary.parse(JSON.parse(readFileSync(join(out, 'summary.json'), 'utf8')));
    expect(summary.runs[0]?.cells).toHaveLength(6);
    expect(summary.runs[0]?.folder).toBe('.');
    expect(summary.title).toBe(options.title);
    const schema = JSON.parse(readFileSync(join(out, 'summary.schema.json'), 'utf8'));
    expect(schema).toEqual(JSON.parse(JSON.stringify(summaryJsonSchema())));
    expect(schema.required).toEqual(expect.arrayContaining(['summary_version', 'runs', 'metrics']));
  });

  test('writes names so that neither a spreadsheet, Markdown nor LaTeX takes them for commands', async () => {
    const out = await published('names');
    const text = (file: string) => readFileSync(join(out, file), 'utf8');
    expect(text('results.csv')).toMatch(/,'=cmd\|x,/);
    expect(text('results.csv')).not.toMatch(/(^|,)"?[=+@]/m);
    expect(text('tables/results.md')).toContain('| =cmd\\|x |');
    expect(text('tables/results.tex')).toContain('=cmd\\textbar{}x & ');
    expect(text('tables/results.tex')).toContain('a\\_b \\& \\{c\\} & ');
    expect(text('DATA_CARD.md')).toContain('# Two \\*tiny\\* models');
    expect(text('CITATION.cff')).toContain(
      '  - family-names: "Doe"\n    given-names: "Jane"\n  - name: "The lab"\n',
    );
  });

  test('of several runs has a folder for each, and one table over all', async () => {
    const other = syntheticRun({ root, run_id: 'other', items: 4, models: ['tiny'], strategies: ['single'] });
    const out = await published('several', [run, other]);
    expect(readdirSync(join(out, 'runs')).sort()).toEqual(['other', run.manifest.run_id].sort());
    expect(
      readFileSync(join(out, 'tables/results.md'), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('| ')),
    ).toHaveLength(2 + 6 + 2);
    expect(existsSync(join(out, 'runs/other/data/samples.parquet'))).toBe(true);
  });

  test('is refused where something is already, and leaves nothing of a failure', async () => {
    const out = join(root, 'taken');
    mkdirSync(out);
    writeFileSync(join(out, 'mine.txt'), 'mine');
    const sources = [{ run, results: buildResults(run) }];
    await expect(writePublication(out, sources, options)).rejects.toMatchObject({ code: 'INPUT_INVALID' });
    expect(readFileSync(join(out, 'mine.txt'), 'utf8')).toBe('mine');
    const report = () => Promise.reject(new Error('no report'));
    await expect(writePublication(join(root, 'failed'), sources, { ...options, report })).rejects.toThrow(
      'no report',
    );
    expect(readdirSync(root).filter((name) => name.startsWith('failed'))).toEqual([]);
  });
});

// biome-ignore format: a table is read in columns
test.each([
  ['\\input{/etc/passwd}', '\\textbackslash{}input\\{/etc/passwd\\}', 'a command'],
  ['50 % of $x_1^2$ ~ #1', '50 \\% of \\$x\\_1\\textasciicircum{}2\\$ \\textasciitilde{} \\#1', 'every sign that means something'],
  ['a\u202Eb\u0000c',      'a b c', 'direction marks and control characters'],
])('LaTeX takes %j as text: %s', (text, wanted, _why) => {
  expect(latexText(text)).toBe(wanted);
});

test('Markdown takes a name as text', () => {
  expect(markdownText('[x](javascript:1) <b> `c`')).toBe('\\[x\\](javascript:1) \\<b\\> \\`c\\`');
});

describe('what is private in a run', () => {
  const canaries = {
    key: 'CANARYkey0123456789',
    password: 'CANARYpass',
    host: 'canary-host',
    user: 'canaryuser',
    flag: 'CANARYflag',
    env: 'CANARYenv-value-1',
  };
  const planted = () => {
    const made = syntheticRun({
      root: join(root, 'planted'),
      items: 3,
      strategies: ['single'],
      models: ['tiny'],
      endpoint: `http://me:${canaries.password}@canary-endpoint:8000/v1`,
      text: ` Bearer ${canaries.key} at /home/${canaries.user}/x on ${canaries.host}`,
    });
    const file = join(made.path, 'run.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    manifest.host.hostname = canaries.host;
    manifest.matrix.endpoints = { e: { url: 'http://canary-other.lan:1/v1', api_key_env: 'LAB_KEY_NAME' } };
    manifest.matrix.engines = {
      x: { kind: 'command', command: ['serve', '--api-key', canaries.flag], env: { HF_TOKEN: canaries.key } },
    };
    writeFileSync(file, JSON.stringify(manifest));
    const [cell] = made.cells();
    made.writeCell({ ...cell!, failure: `401 for ${canaries.env}, --api-key ${canaries.flag}` });
    return openRun(made.path);
  };

  test('is no word that records are made of: taken out, they could not be read', () => {
    const made = syntheticRun({
      root: join(root, 'words'),
      items: 2,
      strategies: ['single'],
      models: ['tiny'],
    });
    const { manifest } = made;
    made.updateManifest({ host: { ...manifest.host, hostname: 'counter' } });
    const facts = privateFactsOf(made, {
      hostname: 'matrix',
      env: { USER: 'queries', HOME: '/x/energy_gross_j' },
    });
    expect(facts).toMatchObject({ hosts: [], users: [] });
  });

  test('is found in manifest, cells and environment, and in no byte of a copy or publication', async () => {
    const made = planted();
    const facts = privateFactsOf(made, {
      hostname: 'canary-here',
      env: { LAB_KEY_NAME: canaries.env, USER: canaries.user, HOME: `/srv/${canaries.user}` },
    });
    expect(facts.hosts).toEqual(
      expect.arrayContaining([canaries.host, 'canary-endpoint', 'canary-other.lan', 'canary-here']),
    );
    expect(facts.secrets).toEqual(
      expect.arrayContaining([canaries.key, canaries.password, canaries.flag, canaries.env]),
    );
    const redactor = createRedactor(facts);
    const target = join(root, 'clean');
    mkdirSync(target);
    const { run: clean } = copyRun(made, { root: target, change: redactor.change, texts: 'keep' });
    const out = join(root, 'canaries');
    await writePublication(out, [{ run: clean, results: buildResults(clean) }], options);
    const found = [clean.path, out].flatMap((folder) =>
      filesBelow(folder).filter((file) =>
        /canary/i.test(readFileSync(join(folder, file)).toString('latin1')),
      ),
    );
    expect(found).toEqual([]);
    expect(readFileSync(join(out, 'results.json'), 'utf8')).toContain('host-1');
    const energies = (of: RunFolder) =>
      buildResults(of).cells.map(({ metrics }) => metrics.energy_per_query_j.value);
    expect(energies(clean)).toEqual(energies(made));
  });
});

const here = existsSync(CHROMIUM);
if (!here) process.stderr.write(`skipped: figures in a browser, because ${CHROMIUM} is missing\n`);

describe.skipIf(!here)('figures', () => {
  test('are drawn as SVG, PNG and PDF, each the same when drawn again', async () => {
    const figures = publicationFigures(buildResults(run));
    expect(figures.map(({ id }) => id)).toEqual(['pareto', 'power']);
    const plotlySource = await readPlotlySource();
    const [pareto] = figures;
    const drawn = await drawFigures([...figures, pareto!], { executable: CHROMIUM, plotlySource });
    for (const { svg, png, pdf } of drawn.slice(0, 1)) {
      const again = drawn.at(-1);
      expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
      expect(svg === again?.svg, 'the same SVG').toBe(true);
      expect(Buffer.from(png).equals(Buffer.from(again?.png ?? []))).toBe(true);
      expect(Buffer.from(pdf).equals(Buffer.from(again?.pdf ?? []))).toBe(true);
      expect(Buffer.from(png.subarray(16, 24)).toString('hex')).toBe('0000070800000460');
      expect(Buffer.from(pdf).toString('latin1')).toMatch(/^%PDF-[\s\S]*\/CreationDate \(D:19700101000000/);
    }
  });

  test('that no browser can draw are one clear error', async () => {
    await expect(drawFigures([], { executable: '/bin/false', plotlySource: '' })).rejects.toMatchObject({
      code: 'INPUT_INVALID',
      message: expect.stringContaining('/bin/false'),
    });
  });
});
