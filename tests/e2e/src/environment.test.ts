import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from './cli.js';

const variables = (text: string): string[] => text.match(/PERWATT_[A-Z0-9]+(_[A-Z0-9]+)*/g) ?? [];

const inSources = (): string[] => {
  const patterns = ['*.ts', '*.cts', '*.mjs', '*.js', '*.rs', '*.json', '*.py', '*.sh'];
  const command = ['ls-files', '--cached', '--others', '--exclude-standard', ...patterns];
  const files = execFileSync('git', command, { cwd: repository, encoding: 'utf8' }).trim().split('\n');
  const paths = files.map((file) => join(repository, file)).filter((path) => existsSync(path));
  return paths.flatMap((path) => variables(readFileSync(path, 'utf8')));
};

const sorted = (names: readonly string[]): string[] => [...new Set(names)].toSorted();

test('the table of environment variables lists each one of the sources, and no other', () => {
  const page = readFileSync(join(repository, 'README.md'), 'utf8');
  const section = page.split('\n## ').find((part) => part.startsWith('Environment\n')) ?? '';
  const rows = section.split('\n').flatMap((line) => /^\| (`[^|]*`) \|/.exec(line)?.[1] ?? []);
  const listed = sorted(rows.flatMap(variables));
  expect(listed.length).toBeGreaterThan(5);
  expect(listed).toEqual(sorted(inSources()));
});
