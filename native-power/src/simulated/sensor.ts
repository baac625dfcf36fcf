/** How a simulated meter shows one domain. Times in ns of the run's clock. */
export interface SensorModel {
  readonly kind: 'counter' | 'gauge';
  /** How often it renews its value. */
  readonly update_period_ns: number;
  /** How late a new value shows. */
  readonly lag_ns: number;
  /** Smallest step of what it shows, J (counter) or W (gauge). */
  readonly quantum: number;
  /** Share of each update period that it looks at, at the period's end; above 0, at most 1. */
  readonly sensing_share_ratio: number;
  /** Where in its period it was when the recording began, 0…1. */
  readonly phase: number;
}

/** A meter in a world whose power is known at every moment. Times never fall. */
export interface Sensor {
  /** Lets time pass at one power. */
  pass(to_ns: number, power_w: number): void;
  /** What it shows at the time that has passed: J since the recording began, or W. */
  shown(): number;
}

interface Finished {
  readonly shows_ns: number;
  readonly value: number;
}

/**
 * A meter that takes each update period to be as the part of it that it looked at, shows that once the period and the lag are
 * over, and in whole steps. A gauge shows the mean power of the last period it knows, before the first one `power_w`.
 */
export function createSensor(model: SensorModel, start_ns: number, power_w: number): Sensor {
  const { kind, update_period_ns: period, lag_ns, quantum, sensing_share_ratio: share } = model;
  const looks = period * share;
  /** Periods of which a reading may still want to know. */
  const kept = Math.ceil(lag_ns / period) + 1;
  const ready: Finished[] = [];
  let at = start_ns;
  let end = start_ns + (1 - model.phase) * period;
  let seen_j = (power_w * Math.max(looks - (end - at), 0)) / 1e9;
  let told_j = 0;
  let value = kind === 'counter' ? 0 : power_w;
  const finish = () => {
    const period_j = seen_j / share;
    told_j += period_j;
    ready.push({ shows_ns: end + lag_ns, value: kind === 'counter' ? told_j : (period_j / period) * 1e9 });
    end += period;
    seen_j = 0;
  };
  const finishBy = (to_ns: number, watts: number, most: number) => {
    for (let n = 0; n < most && end <= to_ns; n++) {
      seen_j += (watts * (end - Math.max(at, end - looks))) / 1e9;
      at = end;
      finish();
    }
  };
  /** Whole periods of one power that later ones take the place of before anyone reads. */
  const skip = (periods: number, watts: number) => {
    if (periods <= 0) return;
    told_j += (periods * watts * period) / 1e9;
    end += periods * period;
    at = end - period;
  };
  return {
    pass(to_ns, watts) {
      finishBy(to_ns, watts, 1);
      skip(Math.floor((to_ns - end) / period) - kept, watts);
      finishBy(to_ns, watts, Number.POSITIVE_INFINITY);
      seen_j += (watts * Math.max(to_ns - Math.max(at, end - looks), 0)) / 1e9;
      at = Math.max(at, to_ns);
    },
    shown() {
      let known = 0;
      for (const { shows_ns, value: next } of ready) {
        if (shows_ns > at) break;
        value = next;
        known += 1;
      }
      ready.splice(0, known);
      return Math.floor(value / quantum + 1e-9) * quantum;
    },
  };
}
