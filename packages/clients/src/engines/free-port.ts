import { createServer } from 'node:net';
import { PerwattError } from '@perwatt/core';

/**
 * A port that can be listened on at `host`: the one asked for, or any. Throws `SERVER_FAILED` where it is taken: what
 * listens there would be measured in place of the engine.
 */
export function freePort(host: string, port: number | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      const what = port === undefined ? `no port of ${host} can` : `port ${port} of ${host} can't`;
      reject(
        new PerwattError('SERVER_FAILED', `${what} be listened on: ${error.message}`, {
          hint: 'Stop what listens there, or leave `port` out of the engine to have a free one.',
          cause: error,
        }),
      );
    });
    server.listen(port ?? 0, host, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : (port ?? 0);
      server.close(() => resolve(bound));
    });
  });
}
