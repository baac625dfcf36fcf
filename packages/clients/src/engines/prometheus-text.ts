/** Sums over their labels of the samples in a page in Prometheus' text format, by name. */
export type Samples = ReadonlyMap<string, SampleSum>;

export interface SampleSum {
  readonly sum: number;
  readonly count: number;
}

const line = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{(?:[^"{}]|"(?:[^"\\]|\\.)*")*\})?\s+([^\s#]+)(?:\s|$)/;

/** Reads a page. Lines that are no samples, and values that are no finite numbers, are passed over. */
export function readSamples(page: string): Samples {
  const samples = new Map<string, SampleSum>();
  for (const text of page.split('\n')) {
    if (text.startsWith('#')) continue;
    const [, name, value] = line.exec(text) ?? [];
    const number = Number(value);
    if (name === undefined || value === undefined || !Number.isFinite(number)) continue;
    const before = samples.get(name);
    samples.set(name, { sum: (before?.sum ?? 0) + number, count: (before?.count ?? 0) + 1 });
  }
  return samples;
}
