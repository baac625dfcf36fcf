import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const repository = join(import.meta.dirname, '../..');

/** What the compiler says of a file that stands beside the sources. */
function problemsOf(text: string): string[] {
  const path = join(import.meta.dirname, 'readme-example.ts');
  const { config } = ts.readConfigFile(join(repository, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (file) => file === path || fileExists(file);
  host.getSourceFile = (file, target, ...rest) =>
    file === path ? ts.createSourceFile(file, text, target) : getSourceFile(file, target, ...rest);
  const program = ts.createProgram([path], { ...options, noEmit: true }, host);
  return ts
    .getPreEmitDiagnostics(program, program.getSourceFile(path))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('the example of the README fits in ten lines and is what the types allow', () => {
  const readme = readFileSync(join(repository, 'native-power/README.md'), 'utf8');
  const [, example = ''] = /^```ts\n([\s\S]*?)^```/m.exec(readme) ?? [];
  expect(example.trim().split('\n').length).toBeLessThanOrEqual(10);
  const checked =
    '// @ts-expect-error: no such field, or nothing is checked\n(await measure(() => 1)).joules;';
  expect(problemsOf(`${example}\n${checked}\n`)).toEqual([]);
});
