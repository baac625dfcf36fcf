/**
 * What a task earns its proposer whose attempts succeed at a rate of 0…1: 1 − rate, and with the zero rule nothing where
 * none succeeds. So neither a task that is always solved nor one that never is pays.
 */
export const proposerReward = (rate: number, zeroRule: 'on' | 'off'): number =>
  rate === 0 && zeroRule === 'on' ? 0 : 1 - rate;
