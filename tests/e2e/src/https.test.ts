import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startMockServer } from '@perwatt/clients';
import { type SecureFront, secureFront } from '@perwatt/test-kit';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { runCli, temporaryFolder } from './cli.js';

async function secureMock({ skip }: TestContext): Promise<SecureFront> {
  const mock = await startMockServer();
  const front = await secureFront(mock.port);
  onTestFinished(async () => {
    await mock.close();
    await front?.close();
  });
  return front ?? skip('there is no openssl to make a certificate with');
}

function trace(folder: string): string {
  const file = join(folder, 'trace.csv');
  const rows = Array.from(
    { length: 40 },
    (_, i) => `${i / 100},ChatGPT,${10 + i},4,${14 + i},Conversation log`,
  );
  const header = 'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type';
  writeFileSync(file, [header, ...rows].join('\n'));
  return file;
}

test('a server over TLS is loaded as any other, once its certificate is trusted', async (context) => {
  const { url, certificate } = await secureMock(context);
  const folder = temporaryFolder();
  const args = [
    'replay',
    trace(folder),
    '--endpoint',
    url,
    '--out',
    folder,
    '--no-check',
    '--baseline',
    '0s',
  ];
  const { code, stdout, stderr } = await runCli([...args, '--power', 'none', '--json', '--quiet'], {
    env: { NODE_EXTRA_CA_CERTS: certificate },
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ calls: 40, ok: 40, output_tokens: 160 });
  expect(code).toBe(0);
});

test.for([
  { command: 'replay', more: ['TRACE', '--no-check'] },
  { command: 'call', more: ['--model', 'mock', '--prompt', 'Say hello.'] },
])('$command says how a certificate that nobody signed is trusted', async ({ command, more }, context) => {
  const { url } = await secureMock(context);
  const folder = temporaryFolder();
  const real = more.map((arg) => (arg === 'TRACE' ? trace(folder) : arg));
  const { code, stdout, stderr } = await runCli([command, ...real, '--endpoint', url], { cwd: folder });
  expect(stdout + stderr).toContain("the server's certificate is not trusted: self-signed certificate");
  expect(stdout + stderr).toContain('NODE_EXTRA_CA_CERTS may name a file with it');
  expect(code).toBe(1);
});
