/** Cuts a stream of bytes into lines. */
export interface LineSplitter {
  /** The lines that `bytes` completes, without their ends (LF or CRLF). */
  push(bytes: Uint8Array): string[];
  /** Bytes of a line that has not ended. */
  readonly pending: number;
  /** Lines that were longer than allowed and were dropped whole. */
  readonly overlong: number;
}

const newline = 10;

/** A splitter that decodes UTF-8 only at line ends and drops lines of more than `longest` bytes. */
export function lineSplitter(longest: number): LineSplitter {
  let parts: Uint8Array[] = [];
  let size = 0;
  let overlong = 0;
  const keep = (bytes: Uint8Array) => {
    size += bytes.length;
    if (size <= longest) parts.push(bytes.slice());
    else parts = [];
  };
  const take = (): string | null => {
    const text = size > longest ? null : Buffer.concat(parts).toString('utf8');
    if (text === null) overlong += 1;
    parts = [];
    size = 0;
    return text?.endsWith('\r') ? text.slice(0, -1) : text;
  };
  return {
    push(bytes) {
      const lines: string[] = [];
      let from = 0;
      for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
        keep(bytes.subarray(from, at));
        const line = take();
        if (line !== null) lines.push(line);
        from = at + 1;
      }
      if (from < bytes.length) keep(bytes.subarray(from));
      return lines;
    },
    get pending() {
      return size;
    },
    get overlong() {
      return overlong;
    },
  };
}
