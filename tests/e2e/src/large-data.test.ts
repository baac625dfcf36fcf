import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { repository, runCli, temporaryFolder } from './cli.js';

const MIB = 2 ** 20;

/** Loads in a process of its own, and prints items, bytes and the most memory it held. */
const script = `
const { loadDataset } = await import('@perwatt/datasets');
const { items, files } = await loadDataset({ kind: 'gsm8k', options: { path: process.argv[1] } }, { root: '/', seed: 1 });
const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
console.log(JSON.stringify({ items: items.length, bytes, rss: process.resourceUsage().maxRSS * 1024 }));
`;

test('1 GB of records is read as it streams: the memory stays a fraction of it', () => {
  const folder = join(temporaryFolder(), 'data');
  mkdirSync(folder);
  const record = `${JSON.stringify({ question: 'How many?', answer: `${'so '.repeat(MIB / 3)}\n#### 7` })}\n`;
  writeFileSync(join(folder, 'part-00.jsonl'), record.repeat(64));
  for (let part = 1; part < 16; part++)
    linkSync(join(folder, 'part-00.jsonl'), join(folder, `part-${String(part).padStart(2, '0')}.jsonl`));
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script, folder], {
    cwd: join(repository, 'tests/e2e'),
    encoding: 'utf8',
  });
  const { items, bytes, rss } = JSON.parse(out);
  expect(items).toBe(1024);
  expect(bytes).toBeGreaterThan(1000 * MIB);
  expect(rss).toBeLessThan(bytes / 2);
});

test('a bomb in a packed file ends the command with one error and is not unpacked', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'bomb.jsonl.gz'), gzipSync(Buffer.alloc(256 * MIB, 0x0a)));
  const { code, stderr } = await runCli(['datasets', 'show', 'gsm8k', '--path', 'bomb.jsonl.gz'], {
    cwd: folder,
  });
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^error\[DATASET_ROW_INVALID\]: bomb\.jsonl\.gz unpacks to more than 250 times its own size/,
  );
  expect(stderr.trim().split('\n')).toHaveLength(2);
});
