import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';

/** A server of TLS in front of another. */
export interface SecureFront {
  /** Base address with `/v1`. */
  readonly url: string;
  /** File of the certificate, which it has signed itself. */
  readonly certificate: string;
  close(): Promise<void>;
}

/**
 * Puts TLS before a server on a port of this machine, with a certificate for 127.0.0.1 that it makes for the purpose. Null where
 * there is no `openssl` to make it with.
 */
export async function secureFront(port: number): Promise<SecureFront | null> {
  const folder = mkdtempSync(join(tmpdir(), 'perwatt-tls-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  // biome-ignore format: options and their values
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', '/CN=perwatt test', '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', certificate];
  try {
    execFileSync('openssl', args, { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (secure) => {
    const plain = connect(port, '127.0.0.1');
    secure.pipe(plain).pipe(secure);
    secure.on('error', () => plain.destroy());
    plain.on('error', () => secure.destroy());
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    certificate,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          rmSync(folder, { recursive: true });
          resolve();
        });
      }),
  };
}
