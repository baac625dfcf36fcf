import { createHash } from 'node:crypto';
import { fdatasync, fdatasyncSync } from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { RecordBatch, RecordBatchStreamWriter, type Schema, util } from 'apache-arrow';
import { BLANK_SEAL, SEAL_KEY, writeSeal } from './batch-seal.js';
import { writeFully, writeFullyLater } from './durable-file.js';

/** Chunks of a message before its head: the continuation mark and the head's length. */
const HEAD = 2;

const fdatasyncLater = promisify(fdatasync);

type Chunk = Parameters<typeof util.toUint8Array>[0];

/**
 * apache-arrow's stream writer onto a file descriptor, without a Node stream between: bounded memory, and durable when
 * `flush` returns. The queue holds views of the column buffers: don't touch them before `flush`.
 *
 * Every batch is sealed: its own metadata holds a checksum of the whole stream up to its end, so that bytes that never
 * reached the disk are told from bytes that are zeros.
 */
export class SyncStreamWriter extends RecordBatchStreamWriter {
  readonly #fd: number;
  readonly #sha256 = createHash('sha256');
  #queue: Uint8Array[] = [];
  #crc = 0;
  #durable = 0;

  constructor(fd: number, schema: Schema) {
    super({ autoDestroy: false });
    this.#fd = fd;
    this.reset(undefined, schema);
  }

  /** Bytes known to be on the disk. */
  get durableBytes(): number {
    return this.#durable;
  }

  /** Writes what is queued and syncs it. */
  flush(): void {
    writeFully(this.#fd, this.#queue);
    fdatasyncSync(this.#fd);
    for (const part of this.#queue) {
      this.#sha256.update(part);
      this.#durable += part.byteLength;
    }
    this.#queue = [];
  }

  /** Like `flush`, while the caller goes on. Nothing may be written or flushed before it is done. */
  async flushLater(): Promise<void> {
    const parts = this.#queue;
    this.#queue = [];
    const written = writeFullyLater(this.#fd, parts);
    for (const part of parts) this.#sha256.update(part);
    await written;
    await fdatasyncLater(this.#fd);
    for (const part of parts) this.#durable += part.byteLength;
  }

  /** sha256 (hex) of the bytes flushed so far. */
  digest(): string {
    return this.#sha256.copy().digest('hex');
  }

  protected override _write(chunk: Chunk): this {
    const bytes = util.toUint8Array(chunk);
    if (this._started && bytes.byteLength > 0) {
      this.#queue.push(bytes);
      this.#crc = crc32(bytes, this.#crc);
      this._position += bytes.byteLength;
    }
    return this;
  }

  protected override _writeRecordBatch(batch: RecordBatch): this {
    this._writeDictionaries(batch);
    const first = this.#queue.length;
    const metadata = new Map([...batch.metadata, [SEAL_KEY, BLANK_SEAL]]);
    super._writeRecordBatch(new RecordBatch(batch.schema, batch.data, metadata));
    writeSeal(this.#queue[first + HEAD] ?? new Uint8Array(), this.#crc);
    return this;
  }
}
