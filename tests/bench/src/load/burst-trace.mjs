import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createRng } from '@perwatt/core';

/** Writes a made-up trace in the format of BurstGPT: 200 calls in every whole second, short answers. */
export async function writeBurstTrace(path, rows) {
  const rng = createRng(7);
  const out = createWriteStream(path);
  out.write('Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n');
  for (let i = 0; i < rows; i++) {
    const [input, output] = [20 + Math.floor(rng() * 300), 1 + Math.floor(rng() * 16)];
    const line = `${Math.floor(i / 200)},ChatGPT,${input},${output},${input + output},Conversation log\n`;
    if (!out.write(line)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}
