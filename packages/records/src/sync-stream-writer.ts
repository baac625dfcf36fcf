import { createHash } from 'node:crypto';
import { fdatasyncSync } from 'node:fs';
import { RecordBatch, RecordBatchStreamWriter, type Schema, util } from 'apache-arrow';
import { crcOf } from './crc.js';
import { writeFully } from './durable-file.js';

/** Key of a record batch's own metadata: CRC-32 (hex) of every byte of the stream before its message, then of its body. */
export const CRC_KEY = 'crc32';

type Chunk = Parameters<typeof util.toUint8Array>[0];
const padding = new Uint8Array(8);

/**
 * apache-arrow's stream writer onto a file descriptor, without a Node stream between: bounded memory, and durable when
 * `flush` returns. The queue holds views of the column buffers: don't touch them before `flush`.
 *
 * Every batch carries a checksum of all that a reader must have seen by then, dictionaries included, so that a body
 * that never reached the disk is told from one that holds zeros.
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

  /** sha256 (hex) of the bytes flushed so far. */
  digest(): string {
    return this.#sha256.copy().digest('hex');
  }

  protected override _write(chunk: Chunk): this {
    const bytes = util.toUint8Array(chunk);
    if (this._started && bytes.byteLength > 0) {
      this.#queue.push(bytes);
      this.#crc = crcOf(bytes, this.#crc);
      this._position += bytes.byteLength;
    }
    return this;
  }

  protected override _writeRecordBatch(batch: RecordBatch): this {
    this._writeDictionaries(batch);
    const { buffers } = this._assembleRecordBatch(batch);
    const crc = bodyCrc(buffers, this.#crc).toString(16).padStart(8, '0');
    return super._writeRecordBatch(
      new RecordBatch(batch.schema, batch.data, new Map([...batch.metadata, [CRC_KEY, crc]])),
    );
  }
}

/** CRC-32 of a message's body, buffers padded to 8 bytes, going on from `start`. */
const bodyCrc = (buffers: readonly ArrayBufferView[], start: number): number =>
  buffers.reduce((crc, buffer) => {
    const bytes = util.toUint8Array(buffer);
    return crcOf(padding.subarray(0, -bytes.byteLength & 7), crcOf(bytes, crc));
  }, start);
