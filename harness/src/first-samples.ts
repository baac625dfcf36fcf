import { pause } from './deps.js';
import type { PowerLog } from './power-log.js';

const longestWait_ms = 5000;
const look_ms = 20;

/**
 * Waits until every domain has been read once, so that the first baseline has an edge. Sources of this host are there at
 * once; a meter that stays away is not waited for longer than 5 s.
 */
export async function firstSamples(power: PowerLog, signal: AbortSignal): Promise<void> {
  for (let waited_ms = 0; waited_ms < longestWait_ms && !signal.aborted; waited_ms += look_ms) {
    power.drain();
    if (power.begun()) return;
    await pause(look_ms, signal);
  }
}
