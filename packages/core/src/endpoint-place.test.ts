import { expect, test } from 'vitest';
import { coverEndpoints, coversEndpoint, isElsewhere } from './endpoint-place.js';

// biome-ignore format: a table is read in columns
test.each<[endpoint: string, elsewhere: boolean, why: string]>([
  ['http://127.0.0.1:8000/v1',  false, 'loopback'],
  ['http://127.1.2.3/v1',       false, 'all of 127/8 is loopback'],
  ['http://localhost:8000',     false, 'by name'],
  ['http://[::1]:8000/v1',      false, 'loopback of IPv6'],
  ['http://lab.localhost/v1',   false, 'names below localhost are loopback too'],
  ['http://127.example.org/v1', true,  'a name that only looks like it'],
  ['http://10.0.0.5:8000/v1',   true,  'another address'],
  ['https://gpu-host/v1',       true,  'another name'],
])('%s is elsewhere: %s (%s)', (endpoint, elsewhere) => {
  expect(isElsewhere({ kind: 'http', endpoint })).toBe(elsewhere);
});

test('the embedded engine is here, and only a meter or an agent covers another host', () => {
  expect(isElsewhere({ kind: 'embedded', endpoint: 'embedded' })).toBe(false);
  const far = { kind: 'http', endpoint: 'http://gpu-host/v1' } as const;
  expect(coversEndpoint({ provenance: 'counter' }, far)).toBe(false);
  expect(coversEndpoint({ provenance: 'estimated' }, far)).toBe(false);
  expect(coversEndpoint({ provenance: 'external' }, far)).toBe(true);
  expect(coversEndpoint({ provenance: 'counter' }, { ...far, endpoint: 'http://localhost' })).toBe(true);
  expect(coversEndpoint({ provenance: 'counter' }, null)).toBe(true);
  expect(coversEndpoint({ provenance: 'counter', host: 'gpu-host' }, far)).toBe(true);
  expect(coversEndpoint({ provenance: 'counter', host: 'gpu-host' }, null)).toBe(false);
});

// biome-ignore format: a table is read in columns
test.each<[host: string | undefined, kind: 'simulated' | 'http' | 'embedded', endpoint: string, covers: boolean, why: string]>([
  ['edge',    'simulated', 'edge',             true,  'its own accelerator'],
  ['edge',    'simulated', 'rack',             false, 'another accelerator of the fleet'],
  ['edge',    'http',      'http://edge/v1',   false, 'a real host that has its name'],
  ['edge',    'embedded',  'embedded',         false, 'the real engine here'],
  [undefined, 'http',      'http://localhost', true,  'a simulated device of this host'],
])('a simulated device of %s covers %s %s: %s (%s)', (host, kind, endpoint, covers) => {
  const domain = { provenance: 'simulated' as const, ...(host !== undefined && { host }) };
  expect(coversEndpoint(domain, { kind, endpoint })).toBe(covers);
  if (host !== undefined) expect(coversEndpoint(domain, null)).toBe(false);
});

const here = { kind: 'embedded', endpoint: 'embedded' } as const;
const far = { kind: 'http', endpoint: 'http://gpu/v1' } as const;
const counter = { id: 'rapl', provenance: 'counter' } as const;
const agent = { id: 'agent', provenance: 'counter', host: 'gpu' } as const;
const meter = { id: 'wall', provenance: 'external' } as const;

// biome-ignore format: a table is read in columns
test.each<[metered: readonly (typeof counter | typeof agent | typeof meter)[], endpoints: readonly (typeof here | typeof far | null)[], ids: string, why: string]>([
  [[counter, agent], [here],      'rapl',       'what is here'],
  [[counter, agent], [far],       'agent',      'what is there'],
  [[counter, agent], [here, far], 'rapl agent', 'both, in their order'],
  [[counter],        [here, far], '',           'the far one is not metered, so nothing may be summed'],
  [[agent],          [here, far], '',           'nor where it is the near one'],
  [[meter],          [here, far], 'wall',       'an external meter hangs where it belongs'],
  [[counter],        [null],      'rapl',       'nothing is known of the endpoint'],
  [[],               [here],      '',           'nothing is metered'],
])('%#: of what is metered, %j may sum %s', (metered, endpoints, ids) => {
  expect(coverEndpoints(metered, endpoints, (own) => own).map(({ id }) => id).join(' ')).toBe(ids);
});
