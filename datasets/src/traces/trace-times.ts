const DECIMAL = /^(-?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?$/;

/**
 * A decimal number times 10^`shift` as a whole number, exactly: `61.114` with shift 9 is 61114000000. Digits finer than that
 * are rounded to nearest. Null when the text is no decimal number.
 */
export function scaledDecimal(text: string, shift: number): bigint | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const places = shift + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  const value = places >= 0 ? digits * 10n ** BigInt(places) : rounded(digits, 10n ** BigInt(-places));
  return sign === '-' ? -value : value;
}

const rounded = (value: bigint, unit: bigint) => (value + unit / 2n) / unit;

const WALL =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[ T]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):?([0-9]{2}))?$/;

/**
 * `YYYY-MM-DD HH:MM:SS` with up to 9 digits of a second, as ns since 1970; a stamp without a zone is taken as UTC, which
 * offsets don't depend on. Null when the text is no such stamp or no such day exists.
 */
export function wallTime(text: string): bigint | null {
  const match = WALL.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour, zoneMinute] = match;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  const realDay = new Date(date).getUTCDate() === Number(day) && Number(month) <= 12;
  if (!realDay || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const ms = date + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  const zone =
    sign === undefined ? 0 : (Number(zoneHour) * 60 + Number(zoneMinute)) * (sign === '-' ? -60_000 : 60_000);
  return BigInt(ms - zone) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}
