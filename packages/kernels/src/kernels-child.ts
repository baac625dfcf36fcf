import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { loadAddon } from './addon.js';

/**
 * The process that drives devices: reads one request on its standard input, hands it to the addon in the file that its argument
 * names, and writes the addon's events to file descriptor 3, a line each. The addon works on this thread; nothing else runs here. A
 * parent that is gone ends it. Where memory runs out, Linux is to end it and no one else: what a kernel takes too much is its own
 * fault.
 */
const EVENTS = 3;

if (process.platform === 'linux')
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {}

const request = readFileSync(0, 'utf8');
const { binding, problem } = loadAddon(process.argv[2]);
const send = (line: string) => void writeSync(EVENTS, `${line}\n`);

if (binding === null) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  binding.answer(request, (line) => {
    try {
      send(line);
    } catch {
      process.exit(1);
    }
  });
  send(JSON.stringify({ event: 'done' }));
}
