import { replayRefusal } from '@perwatt/native-power';
import type { Fields } from './fields.js';
import { type Computed, unsupported } from './outcome.js';
import { type TreeFile, withTree, zoneFiles } from './tree.js';

interface Setup {
  readonly pattern: RegExp;
  readonly files: (held: string) => readonly TreeFile[];
  readonly refusal?: 'permission' | 'io';
  readonly source?: string;
}

const zone = (energy: string) =>
  zoneFiles('intel-rapl:0', { name: 'package-0', energy, max: 262_143_328_850 });

/** What a sentence about a tree means. */
const setups: readonly Setup[] = [
  { pattern: /^energy_uj: open fails EACCES$/, files: () => zone('1'), refusal: 'permission' },
  { pattern: /^energy_uj: read fails EIO$/, files: () => zone('1'), refusal: 'io' },
  {
    pattern: /^powercap directory exists and is empty$/,
    files: () => [{ path: 'sys/class/powercap', folder: true }],
  },
  { pattern: /^energy_uj holds an empty string$/, files: () => zone('') },
  { pattern: /^energy_uj holds '(.*)'$/, files: zone },
  { pattern: /^no powercap directory$/, files: () => [] },
  {
    pattern: /^no bus\/event_source\/devices\/power directory$/,
    files: () => [{ path: 'sys/bus/event_source/devices', folder: true }],
    source: 'rapl-perf',
  },
];

/** Opens the real source on a tree for every variant and says why it refuses. */
export function accessCase(input: Fields): Computed {
  const reasons: string[] = [];
  for (const variant of input.each('variants')) {
    const text = variant.text('setup');
    const setup = setups.find(({ pattern }) => pattern.test(text));
    if (setup === undefined) return unsupported(`no built source is met by "${text}"`);
    const held = setup.pattern.exec(text)?.[1] ?? '';
    const reason = withTree(setup.files(held), (root) =>
      replayRefusal(setup.source ?? 'rapl-powercap', { root, refusal: setup.refusal ?? null }),
    );
    if (reason === null) return unsupported(`"${text}" is readable`);
    reasons.push(reason);
  }
  return { joules: null, reasons };
}
