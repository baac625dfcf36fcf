const usual = /^(\d{2})-(\d{2})-(\d{4}) (\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?$/;

/** A stamp `MM-DD-YYYY HH:MM:SS.fff` as ns since 1970 in whatever zone it was written; null when it is none. */
export function meterStampNs(text: string): bigint | null {
  const [match, month, day, year, hour, minute, second, fraction = ''] = usual.exec(text.trim()) ?? [];
  if (match === undefined) return null;
  const [mo, d, h, mi, s] = [month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (mo < 1 || mo > 12 || d < 1 || d > 31 || h > 23 || mi > 59 || s > 60) return null;
  const ms = Date.UTC(Number(year), mo - 1, d, h, mi, s);
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

export const timeFormats = ['unix_s', 'unix_ms', 'unix_us', 'unix_ns', 'iso'] as const;
/** How a file writes its stamps: numbers since 1970, or ISO 8601 with a zone. */
export type TimeFormat = (typeof timeFormats)[number];

const digits = { unix_s: 9, unix_ms: 6, unix_us: 3, unix_ns: 0 } as const;
const number = /^(\d{1,19})(?:\.(\d{1,9})\d*)?$/;
const zoned = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.(\d{1,9})\d*)?(?:Z|[+-]\d{2}:?\d{2})$/;

/** A stamp of a file as ns since 1970; null when it is none. */
export function fileStampNs(text: string, format: TimeFormat): bigint | null {
  const trimmed = text.trim();
  if (trimmed.length > 40) return null;
  if (format === 'iso') return isoNs(trimmed);
  const [match, whole = '', fraction = ''] = number.exec(trimmed) ?? [];
  if (match === undefined) return null;
  const places = digits[format];
  const ns =
    BigInt(whole) * 10n ** BigInt(places) + BigInt(`0${fraction.slice(0, places).padEnd(places, '0')}`);
  return ns < 2n ** 63n ? ns : null;
}

function isoNs(text: string): bigint | null {
  const match = zoned.exec(text);
  if (match === null) return null;
  const ms = Date.parse(text.replace(' ', 'T').replace(/\.\d+/, ''));
  return Number.isNaN(ms) ? null : BigInt(ms) * 1_000_000n + BigInt((match[1] ?? '').padEnd(9, '0'));
}
