/** The laws that a claim is held to. */
export type PhysicsCheck = 'bandwidth' | 'compute' | 'prefill' | 'power' | 'idle';

/** What became of one check. */
export type PhysicsOutcome = 'possible' | 'impossible' | 'not_checked';

/** One claim beside its bound, with everything that the bound was made of. */
export interface PhysicsFinding {
  readonly check: PhysicsCheck;
  readonly outcome: PhysicsOutcome;
  /** Such as `invalid: exceeds-bandwidth`, or `not checked: memory_bandwidth_bytes_per_s unknown`. */
  readonly verdict: string;
  /** What the hardware allows; null where it was not checked. */
  readonly bound: number | null;
  readonly claim: number | null;
  readonly unit: 'tokens/s' | 's' | 'W' | 'J';
  readonly inputs: Readonly<Record<string, number | string>>;
  /** The calculation in one line, to be checked by hand; empty where there was none. */
  readonly arithmetic: string;
}

const verdicts: Readonly<Record<PhysicsCheck, string>> = {
  bandwidth: 'exceeds-bandwidth',
  compute: 'exceeds-compute',
  prefill: 'exceeds-compute',
  power: 'exceeds-power-limit',
  idle: 'below-idle-energy',
};

const units: Readonly<Record<PhysicsCheck, PhysicsFinding['unit']>> = {
  bandwidth: 'tokens/s',
  compute: 'tokens/s',
  prefill: 's',
  power: 'W',
  idle: 'J',
};

/** A check that could not be made, and what was missing. */
export const notChecked = (check: PhysicsCheck, claim: number | null, why: string): PhysicsFinding => ({
  check,
  outcome: 'not_checked',
  verdict: `not checked: ${why}`,
  bound: null,
  claim,
  unit: units[check],
  inputs: {},
  arithmetic: '',
});

interface Judged extends Pick<PhysicsFinding, 'inputs' | 'arithmetic'> {
  readonly claim: number;
  readonly bound: number;
}

/** A check that was made. Times and idle energy are bounded from below, all else from above. */
export function judged(check: PhysicsCheck, { claim, bound, inputs, arithmetic }: Judged): PhysicsFinding {
  const beyond = check === 'prefill' || check === 'idle' ? claim < bound : claim > bound;
  return {
    check,
    outcome: beyond ? 'impossible' : 'possible',
    verdict: beyond ? `invalid: ${verdicts[check]}` : 'possible',
    bound,
    claim,
    unit: units[check],
    inputs,
    arithmetic: `${arithmetic}; claimed ${brief(claim)} ${units[check]}`,
  };
}

/** A number for one line of arithmetic: whole where it is, else four digits. */
export const brief = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(4)));
