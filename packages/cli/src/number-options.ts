import { InvalidArgumentError } from 'commander';

const parser =
  (fits: (value: number, text: string) => boolean, what: string) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() !== '' && fits(value, text)) return value;
    throw new InvalidArgumentError(`must be ${what}`);
  };

/** Parsers of numbers on the command line; each throws what commander shows as wrong usage. */
export const whole = (least: number, most: number) =>
  parser(
    (value, text) => /^\d+$/.test(text) && value >= least && value <= most,
    `a whole number from ${least} to ${most}`,
  );
export const positive = parser((value) => Number.isFinite(value) && value > 0, 'a number above 0');
export const atLeast = (least: number) =>
  parser((value) => Number.isFinite(value) && value >= least, `a number from ${least} on`);
export const shareOf1 = parser((value) => value >= 0 && value <= 1, 'a number from 0 to 1');
