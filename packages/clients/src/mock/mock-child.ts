import { createWriteStream } from 'node:fs';
import { isErrorCode, messageOf } from '@perwatt/core';
import type { FromMock, ToMock } from './mock-messages.js';
import { type ListeningMock, listenMock } from './mock-server.js';

/** The process of a mock server. It ends with its parent, whose channel closes even when the parent is killed. */
let mock: ListeningMock | null = null;

process.on('SIGINT', () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToMock) => void take(message));

function send(message: FromMock): void {
  if (process.connected) process.send?.(message);
}

async function take(message: ToMock): Promise<void> {
  if (message.kind === 'stats') return send({ kind: 'stats', counts: mock?.counts ?? null, cpu_us: cpu() });
  const { log, ...options } = message.options;
  const file = log === undefined ? null : createWriteStream(log);
  try {
    mock = await listenMock(options, {
      nowNs: () => process.hrtime.bigint(),
      log: file === null ? null : (line) => void file.write(`${JSON.stringify(line)}\n`),
      onDeath: () => process.exit(1),
    });
    send({ kind: 'listening', port: mock.port });
  } catch (error) {
    const code = error instanceof Error && 'code' in error && isErrorCode(error.code) ? error.code : null;
    send({ kind: 'failed', code, message: messageOf(error) });
  }
}

function cpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
