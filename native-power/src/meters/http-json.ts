import type { FeedValue } from '../feed-recorder.js';
import { connectionTo, httpText } from './http-text.js';
import { pointerParts, valueAt } from './json-pointer.js';
import { type MeterOptions, type MeterSource, type MeterWorld, meterDomain, polledMeter } from './meter.js';
import { kindOf, type MeterUnit, quantityOf } from './quantity.js';

/** A meter that answers a GET with JSON: a smart plug, a Redfish service, a home automation server. */
export interface HttpJsonOptions extends MeterOptions {
  readonly url: string;
  /** JSON pointer (RFC 6901) to the number: `/apower`, `/PowerWatts/Reading`. */
  readonly pointer: string;
  readonly unit: MeterUnit;
  /** Value of the Authorization header. */
  readonly authorization?: string;
}

/** Number in a JSON text; what has none says why: `parse`, `absent` or what `quantityOf` says. Never throws. */
export function jsonReading(text: string, parts: readonly string[], unit: MeterUnit): FeedValue {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return { missing: 'parse' };
  }
  const value = valueAt(document, parts);
  if (value === undefined || value === null) return { missing: 'absent' };
  return typeof value === 'number' || typeof value === 'string'
    ? quantityOf(String(value), unit)
    : { missing: 'parse' };
}

/** A meter behind HTTP and JSON. */
export function httpJsonMeter(options: HttpJsonOptions, { clock }: MeterWorld): MeterSource {
  const url = new URL(options.url);
  const parts = pointerParts(options.pointer);
  const agent = connectionTo(url);
  const headers: Record<string, string> = { accept: 'application/json' };
  if (options.authorization !== undefined) headers['authorization'] = options.authorization;
  const note = `${options.pointer} of ${url.origin}${url.pathname}, in ${options.unit}`;
  return polledMeter({
    options,
    domains: [meterDomain(options, { kind: kindOf(options.unit), note })],
    clock,
    async read(signal) {
      return [jsonReading(await httpText({ url, headers, signal, agent }), parts, options.unit)];
    },
  });
}
