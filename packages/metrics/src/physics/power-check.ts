import { brief, judged, notChecked, type PhysicsFinding } from './finding.js';
import type { PhysicsClaims, PhysicsSetup } from './physics-setup.js';

/** How far mean power may lie above a limit: tolerance of limits and meters. */
const POWER_TOLERANCE = 1.05;

/** Shortest window that a limit's control loop has settled in, s. */
const SHORTEST_WINDOW_S = 1;

/** Mean power against the limit in force, at the same boundary. */
export function checkPower(claim: number, claims: PhysicsClaims, setup: PhysicsSetup): PhysicsFinding {
  const limit = limitOf(setup);
  if (typeof limit === 'string') return notChecked('power', claim, limit);
  if (setup.same_boundary !== true)
    return notChecked('power', claim, 'the meter covers more or less than the limit, or that is unknown');
  const window = claims.window_s ?? null;
  if (window === null) return notChecked('power', claim, 'window_s unknown');
  if (window < SHORTEST_WINDOW_S)
    return notChecked(
      'power',
      claim,
      `a window of ${brief(window)} s is shorter than a limit needs to settle`,
    );
  const devices = setup.devices ?? 1;
  const bound = POWER_TOLERANCE * limit * devices;
  return judged('power', {
    claim,
    bound,
    inputs: { power_limit_w: limit, devices, tolerance: POWER_TOLERANCE },
    arithmetic: `${POWER_TOLERANCE} × ${brief(limit)} W × ${devices} = ${brief(bound)} W at most`,
  });
}

function limitOf({ power_limit_w: inForce, accelerator }: PhysicsSetup): number | string {
  if (inForce !== undefined && inForce !== null) return inForce;
  if (accelerator === null) return 'accelerator unknown';
  if (accelerator.kind === 'soc' || accelerator.kind === 'cpu')
    return 'the limit of such a device is set by its maker; power_limit_w of this one unknown';
  return accelerator.power_limit_highest_w ?? accelerator.power_limit_w ?? 'power_limit_w unknown';
}

/** Energy of a window against its length at idle power: a device at work takes no less than when it does nothing. */
export function checkIdle(claim: number, claims: PhysicsClaims, setup: PhysicsSetup): PhysicsFinding {
  const [idle, window] = [setup.idle_lo_w ?? null, claims.window_s ?? null];
  if (idle === null) return notChecked('idle', claim, 'idle_lo_w unknown');
  if (window === null) return notChecked('idle', claim, 'window_s unknown');
  const bound = (idle * window) / POWER_TOLERANCE;
  return judged('idle', {
    claim,
    bound,
    inputs: { idle_lo_w: idle, window_s: window, tolerance: POWER_TOLERANCE },
    arithmetic: `${brief(idle)} W × ${brief(window)} s / ${POWER_TOLERANCE} = ${brief(bound)} J at least`,
  });
}
