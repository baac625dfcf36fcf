import { connect as connectTcp, type Socket } from 'node:net';
import { platform } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { type Clock, type Instant, PerwattError } from '@perwatt/core';
import { type Failure, failureOf } from './failure.js';
import type { LoadCall } from './load-call.js';
import type { ReadQueue } from './read-queue.js';
import { createResponseReader, type KnownHeads, type ResponseFault } from './response-reader.js';

/** What the connections of one engine share. */
export interface ConnectionParts {
  /** Address of the server, for example `http://127.0.0.1:8080`. */
  readonly origin: string;
  readonly clock: Clock;
  /** First bytes of every request, up to the value of `content-length`. */
  readonly head: string;
  readonly known: KnownHeads;
  readonly reads: ReadQueue<LoadConnection>;
  /** Its call has ended. `open` is false where the connection went with it. */
  readonly onEnded: (connection: LoadConnection, call: LoadCall, open: boolean) => void;
  /** It ended with no call on it. */
  readonly onLost: (connection: LoadConnection) => void;
}

const CONNECT_TIMEOUT_MS = 10_000;
const READ_BYTES = 65_536;
/** Where reads are made at once, no two are under way at a time, and one buffer does for all sockets. */
const shared = platform() === 'win32' ? null : Buffer.allocUnsafeSlow(READ_BYTES);

const connectTimeout: Failure = {
  status: 'connect_error',
  kind: 'connect_timeout',
  message: `no connection within ${CONNECT_TIMEOUT_MS} ms`,
};
const closedByServer: Failure = failureOf(
  Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
  'sent',
);
const faults: Readonly<Record<ResponseFault, string>> = {
  not_http: 'the server sent bytes that are no HTTP response',
  headers_too_large: 'the headers of the response are too long',
};

/** One connection of the load engine: takes one call after another, and tells when each has ended. */
export class LoadConnection {
  readonly #parts: ConnectionParts;
  readonly #reader;
  readonly #socket: Socket;
  readonly #timer: NodeJS.Timeout;
  #body: Buffer | string = '';
  #call: LoadCall | null;
  #connected = false;
  #used = false;
  #ending = false;
  #gone = false;

  /** Opens a connection for a first call. */
  constructor(parts: ConnectionParts, call: LoadCall, body: Buffer | string) {
    this.#parts = parts;
    this.#reader = createResponseReader(parts.known);
    this.#call = call;
    this.#body = body;
    this.#timer = setTimeout(() => this.drop(call, connectTimeout), CONNECT_TIMEOUT_MS);
    this.#socket = this.#dial();
    this.#socket.setNoDelay(true);
    this.#socket.on('error', (error) => this.#break(error));
    this.#socket.on('end', () => this.#break(null));
    this.#socket.on('close', () => this.#break(null));
  }

  #dial(): Socket {
    const { hostname, port, protocol } = new URL(this.#parts.origin);
    const host = hostname.replace(/^\[|\]$/g, '');
    if (protocol === 'https:') {
      const named = /[a-z]/i.test(host) && !host.includes(':') ? { servername: host } : {};
      const socket = connectTls({
        host,
        port: Number(port || 443),
        ALPNProtocols: ['http/1.1'],
        ...named,
      });
      socket.once('secureConnect', this.#onConnect);
      return socket.on('data', (bytes: Buffer) => this.#onRead(bytes.length, bytes));
    }
    const buffer = shared ?? Buffer.allocUnsafeSlow(READ_BYTES);
    const onread = {
      buffer,
      callback: (length: number, bytes: Uint8Array) => {
        this.#onRead(length, bytes);
        return true;
      },
    };
    return connectTcp({ host, port: Number(port || 80), onread }).once('connect', this.#onConnect);
  }

  /** The call that it is at, or null. */
  get call(): LoadCall | null {
    return this.#call;
  }

  /** Takes the next call; it must have none. */
  take(call: LoadCall, body: Buffer | string): void {
    this.#call = call;
    this.#body = body;
    if (this.#connected) this.#write();
  }

  /** Ends a call as if the connection had broken, and the connection; unless it has ended meanwhile. */
  drop(call: LoadCall, failure: Failure): void {
    this.#parts.reads.drain();
    if (this.#call !== call) return;
    call.end(failure, this.#parts.clock.now());
    this.#release(false);
  }

  /** Closes a connection that has no call. */
  close(): void {
    this.#release(false);
  }

  readonly #onConnect = (): void => {
    clearTimeout(this.#timer);
    this.#connected = true;
    if (this.#call !== null) this.#write();
  };

  readonly #onRead = (length: number, bytes: Uint8Array): void => {
    this.#parts.reads.add(this, { bytes, length }, this.#parts.clock.now());
  };

  #write(): void {
    const body = this.#body;
    const call = this.#call;
    this.#body = '';
    this.#reader.begin();
    call?.start(this.#parts.clock.now(), this.#used);
    this.#used = true;
    const { head } = this.#parts;
    if (typeof body === 'string')
      this.#socket.write(`${head}${Buffer.byteLength(body)}\r\n\r\n${body}`, this.#onSent);
    else {
      this.#socket.cork();
      this.#socket.write(`${head}${body.length}\r\n\r\n`);
      this.#socket.write(body, this.#onSent);
      this.#socket.uncork();
    }
  }

  /** The last byte of the request is with the system; a call whose answer came before that never waits for it. */
  readonly #onSent = (error?: Error | null): void => {
    if (error === null || error === undefined) this.#call?.sent(this.#parts.clock.now());
  };

  /** Takes what was read at `at`; the bytes may be overwritten. */
  read(bytes: Buffer, at: Instant): void {
    const call = this.#call;
    if (this.#gone) return;
    if (call === null) {
      this.#release(false);
      return;
    }
    const fault = this.#reader.push(bytes);
    const { head, start, end, over, reusable } = this.#reader.found;
    if (head !== null) call.head(head, at);
    if (end > start) call.data(bytes.subarray(start, end), at);
    if (fault !== null && !call.over)
      call.end({ status: 'protocol_error', kind: fault, message: faults[fault] }, at);
    else if (over && !call.over) call.finish(at);
    if (call.over) this.#release(reusable && !this.#ending);
  }

  #break(error: Error | null): void {
    if (this.#gone) return;
    const { reads, clock } = this.#parts;
    this.#ending = true;
    reads.drain();
    const call = this.#call;
    if (call !== null && !call.over) {
      if (error === null && this.#reader.endsWithConnection && call.phase === 'body')
        call.finish(clock.now());
      else call.end(error === null ? closedIn(call) : failureOf(error, call.phase), clock.now());
    }
    this.#release(false);
  }

  /** Lets go of the call, and of the connection where it is of no more use. */
  #release(open: boolean): void {
    if (this.#gone) return;
    const call = this.#call;
    this.#call = null;
    if (!open) {
      this.#gone = true;
      clearTimeout(this.#timer);
      this.#socket.destroy();
    }
    if (call !== null) this.#parts.onEnded(this, call, open);
    else if (!open) this.#parts.onLost(this);
  }
}

const closedIn = (call: LoadCall): Failure =>
  call.phase === 'body'
    ? {
        status: 'truncated',
        kind: 'connection_closed',
        message: 'the connection broke before the answer was complete: other side closed',
      }
    : closedByServer;

/** Names and values of headers as lines. Throws `INPUT_INVALID` for a value that no header can have. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => {
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(value))
        throw new PerwattError(
          'INPUT_INVALID',
          `header "${name}" has a name or value that HTTP does not allow`,
          {
            hint: 'A header is one line of ASCII; look for a line break at the end of a key.',
          },
        );
      return `${name}: ${value}\r\n`;
    })
    .join('');
}
