import { checkCompute, checkPrefill } from './compute-check.js';
import { notChecked, type PhysicsCheck, type PhysicsFinding } from './finding.js';
import { checkMemory } from './memory-check.js';
import type { PhysicsClaims, PhysicsSetup } from './physics-setup.js';
import { checkIdle, checkPower } from './power-check.js';

/**
 * Holds the figures of a cell to what its hardware can do. Every bound takes the choice that allows most, so that a
 * finding `impossible` means just that, while much that is wrong passes. Unknown facts leave a check unmade, and say so.
 */
export function physicsGate(claims: PhysicsClaims, setup: PhysicsSetup): PhysicsFinding[] {
  const finding = (
    check: PhysicsCheck,
    claim: number | null | undefined,
    judge: (claim: number) => PhysicsFinding,
  ): PhysicsFinding[] => {
    if (claim === undefined || claim === null) return [];
    return [
      claim >= 0 && Number.isFinite(claim) ? judge(claim) : notChecked(check, null, 'the claim is no number'),
    ];
  };
  const rate = claims.decode_tokens_per_s;
  const counts = [setup.batch, setup.accepted_per_pass, setup.devices].every(
    (n) => n === undefined || n >= 1,
  );
  if (!counts) return [notChecked('bandwidth', null, 'batch, accepted_per_pass or devices below 1')];
  return [
    ...finding('bandwidth', rate, (claim) => checkMemory(claim, setup)),
    ...finding('compute', rate, (claim) => checkCompute(claim, setup)),
    ...finding('prefill', claims.first_token_s, (claim) => checkPrefill(claim, setup)),
    ...finding('power', claims.mean_power_w, (claim) => checkPower(claim, claims, setup)),
    ...finding('idle', claims.energy_hi_j, (claim) => checkIdle(claim, claims, setup)),
  ];
}

/** A reason to flag a cell, in words with the arithmetic. */
export interface PhysicsFlag {
  readonly code: 'beyond_physics';
  readonly severity: 'flagged';
  readonly text: string;
}

/** One flag for each finding that cannot be. */
export const physicsFlags = (findings: readonly PhysicsFinding[]): PhysicsFlag[] =>
  findings
    .filter(({ outcome }) => outcome === 'impossible')
    .map(({ verdict, arithmetic }) => ({
      code: 'beyond_physics',
      severity: 'flagged',
      text: `${verdict}: ${arithmetic}`,
    }));
