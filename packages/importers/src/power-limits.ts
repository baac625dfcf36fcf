// Datasheet limits of one device, W: whole-board or module power as its vendor states it.
const limits = [
  { pattern: /\bB200\b/, power_w: 1000 },
  { pattern: /\bH100\b(?!.*PCIe)/i, power_w: 700 },
  { pattern: /\bA800\b/i, power_w: 400 },
  { pattern: /\bT4\b/, power_w: 70 },
  { pattern: /\bRTX 5090\b/i, power_w: 575 },
] as const;

const TOLERANCE = 1.05;

/**
 * `over_power_limit` when `power_w` of `devices` devices is more than 5 % over their vendor's limit; nothing when it is
 * not, or the limit is not known. Meant for power of boards or modules, not of the wall.
 */
export function overLimit(accelerator: string, devices: number, power_w: number): readonly string[] {
  const known = limits.find(({ pattern }) => pattern.test(accelerator));
  return known !== undefined && power_w > TOLERANCE * known.power_w * devices ? ['over_power_limit'] : [];
}
