/** What an importer found doubtful, in a sentence, by its code. */
const texts: Readonly<Record<string, string>> = {
  repeated_key: 'another row of the file has the same configuration, or is the very same line; all are kept',
  inconsistent: 'power, rate and energy of the row do not fit one another',
  rounded: 'power, rate and energy of the row differ by up to 2 %, as rounded figures do',
  over_power_limit: 'more than 5 % over what the devices allow',
  over_power_cap: 'more than 5 % over the power cap',
  cap_not_reached: 'the draw stays below the power cap: the cap is not what held it',
  two_measurements: 'watts and rate need not be of the same moment',
  suspect: 'the figure contradicts its neighbours',
  memory_nearly_full: 'the weights take most of the card',
  energy_short: 'energy is more than 10 % under mean power times time: samples are missing',
  edge_loss: 'so short a query that its first and last samples miss over 5 % of it',
  whole_device: 'queries overlapped, or may have, and each was charged the whole device',
  equal_share: 'queries overlapped, or may have, and each was charged a share of the device',
  shrinks_with_n: 'accuracy over total energy: it halves when the data set is doubled',
  mean_of_ratios: 'a mean of ratios over queries of any length',
  mean_of_means: 'a mean of mean powers over queries of any length',
  energy_of_some_queries: 'some queries have no energy',
  failures_left_out: 'some queries have no row at all',
};

/** A flag of an imported figure in words. */
export const flagText = (code: string): string => texts[code] ?? code.replaceAll('_', ' ');
