import { expect, test } from 'vitest';
import type { RecorderStatus } from './power.js';
import { explainFlag, flagsOf } from './power-flags.js';

// biome-ignore format: a table is read in columns
test.each([
  ['stale:package-0',          'power_stale',       'package-0', /package-0 stood still/,          'a counter that stopped'],
  ['stale->gauge:gpu-0',       'power_stale_gauge', 'gpu-0',     /gpu-0 stood still at times; energy/, 'and what stands in for it'],
  ['cross-check:GPU-1:2',      'power_cross_check', 'GPU-1:2',   /GPU-1:2 is more than 10 % off/,  'ids hold colons'],
  ['averaged_1s:gpu-0',        'power_averaged',    'gpu-0',     /mean of the last second/,        'a trailing mean'],
  ['psys<package',             'power_psys_low',    null,        /fell below the packages/,        'of the whole source'],
  ['suspended',                'power_suspended',   null,        /slept/,                          'of the whole source'],
  ['clock_step',               'power_clock_step',  null,        /clock was set/,                  'of the whole source'],
  ['dropped:12',               'power_dropped',     null,        /^12 readings were dropped/,      'a count, not a domain'],
  ['failed:the device is gone','power_failed',      null,        /stopped reading: the device is gone/, 'a reason, not a domain'],
  ['melting:gpu-0',            'power_flag',        'gpu-0',     /"melting:gpu-0"/,                'unknown, yet not lost'],
  ['melting',                  'power_flag',        null,        /"melting"/,                      'unknown, of the whole source'],
  ['stale:',                   'power_flag',        null,        /"stale:"/,                       'no domain named'],
])('%s is %s of %s', (flag, code, domain, text, _why) => {
  expect(explainFlag(flag)).toMatchObject({ code, domain, text: expect.stringMatching(text) });
});

test('losses and failures count as flags; a recorder without any has none', () => {
  const status: RecorderStatus = {
    state: 'running',
    reason: null,
    reads: 1,
    missed_deadlines: 0,
    read_ns: 0,
  };
  expect(flagsOf(status)).toEqual([]);
  expect(flagsOf({ ...status, dropped: 0, flags: ['stale:a'] })).toEqual(['stale:a']);
  expect(flagsOf({ ...status, state: 'failed', reason: 'gone', dropped: 3, flags: ['stale:a'] })).toEqual([
    'stale:a',
    'dropped:3',
    'failed:gone',
  ]);
});
