import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseMatrix } from '@perwatt/harness';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { repository } from './cli.js';

const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: repository,
  encoding: 'utf8',
})
  .trim()
  .split('\n');

const blocks = (page: string, language: string): string[] =>
  [...readFileSync(join(repository, page), 'utf8').matchAll(/^```(\w+)\n(.*?)^```/gms)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text ?? '');

test('every TypeScript example of the pages passes the type check', () => {
  const examples = new Map(
    pages.flatMap((page) =>
      blocks(page, 'ts').map((text, i) => [join(repository, dirname(page), `src/readme-${i}.ts`), text]),
    ),
  );
  expect(examples.size).toBeGreaterThan(10);
  const { config } = ts.readConfigFile(join(repository, 'tsconfig.base.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, repository);
  const checked = { ...options, noEmit: true, customConditions: ['perwatt-source'], types: ['node'] };
  const host = ts.createCompilerHost(checked);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => examples.has(file) || fileExists(file);
  host.readFile = (file) => examples.get(file) ?? readFile(file);
  host.getSourceFile = (file, target, ...rest) => {
    const text = examples.get(file);
    return text === undefined
      ? getSourceFile(file, target, ...rest)
      : ts.createSourceFile(file, text, target);
  };
  const program = ts.createProgram([...examples.keys()], checked, host);
  const problems = [...examples.keys()].flatMap((file) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
  });
  expect(problems).toEqual([]);
});

test('every matrix of the pages is one that `perwatt run` accepts', () => {
  const matrices = pages.flatMap((page) => blocks(page, 'yaml').map((text) => ({ page, text })));
  expect(matrices.length).toBeGreaterThan(0);
  for (const { page, text } of matrices) expect(parseMatrix(text, page).axes.model.length).toBeGreaterThan(0);
});
