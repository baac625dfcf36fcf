import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeMeterPage {
  readonly url: string;
  /** Path, query and Authorization header of every request. */
  readonly requests: readonly { readonly path: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
}

export type FakePage = string | { readonly status: number; readonly body?: string } | 'silence';

/** A meter on loopback that answers GETs: a smart plug, a Redfish service, an exporter or a Prometheus server, as `page` says. */
export async function fakeMeterPage(
  page: (request: IncomingMessage) => FakePage,
  port = 0,
): Promise<FakeMeterPage> {
  const requests: { path: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization });
    const answer = page(request);
    if (answer === 'silence') return;
    const { status, body = '' } = typeof answer === 'string' ? { status: 200, body: answer } : answer;
    response.statusCode = status;
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** What a Shelly plug of the second generation answers to `Switch.GetStatus`. */
export const shellyStatus = (apower: number | null, total_wh = 10.5): string =>
  JSON.stringify({
    id: 0,
    output: true,
    apower,
    voltage: 230.1,
    aenergy: { total: total_wh, by_minute: [0, 0, 0] },
  });

/** What a Redfish service answers for a chassis' `EnvironmentMetrics`. */
export const redfishMetrics = (watts: number | null): string =>
  JSON.stringify({
    '@odata.type': '#EnvironmentMetrics.v1_3_0.EnvironmentMetrics',
    PowerWatts: { Reading: watts },
    EnergykWh: { Reading: 12.5 },
  });

/** What a Prometheus server answers to a query. */
export const prometheusVector = (...values: readonly string[]): string =>
  JSON.stringify({
    status: 'success',
    data: {
      resultType: 'vector',
      result: values.map((value, i) => ({ metric: { gpu: String(i) }, value: [1_700_000_000.1, value] })),
    },
  });
