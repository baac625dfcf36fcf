/** At most `digits` significant digits, never in powers of ten. */
export function figure(value: number, digits: number): string {
  const whole = Math.trunc(Math.abs(value)).toString().length;
  return value.toFixed(Math.max(0, value === 0 ? 0 : digits - whole));
}
