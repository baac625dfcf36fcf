import type { ForeignFile, ImportOptions, SourceFacts } from './importer.js';

/** A version of a file that is known by its bytes. */
interface KnownFile {
  readonly version: string;
  readonly date: string;
}

/** What is known of a source apart from its files. */
export interface Source {
  readonly id: string;
  readonly licence: string;
  readonly citation: string;
  /** By sha256. */
  readonly known: Readonly<Record<string, KnownFile>>;
}

/** The facts of one file: its version by what the user says, else by its bytes, else unknown. */
export function factsOf(source: Source, file: ForeignFile, options: ImportOptions): SourceFacts {
  const { id, licence, citation, known } = source;
  const found = known[file.sha256];
  return {
    id,
    licence,
    citation,
    version: options.sourceVersion ?? found?.version ?? null,
    date: found?.date ?? null,
  };
}

const sameVersion = (version: string, date: string, digests: readonly string[]) =>
  Object.fromEntries(digests.map((sha256) => [sha256, { version, date }]));

/** The ML.ENERGY leaderboard's data. */
export const mlEnergySource: Source = {
  id: 'ml-energy',
  licence: 'Apache-2.0',
  citation:
    'Chung et al., The ML.ENERGY Benchmark: Toward Automated Inference Energy Measurement and Optimization, NeurIPS Datasets and Benchmarks 2025',
  known: sameVersion('0cd52da', '2026-02-16', [
    '792582efd1473e9cbc41200deac4d420a106c9207c68928cc7e712e3b55132dc',
    '24e25d46cdd6a9d9d58f8de63928d6f42601f9966d22e4d7a478e5f11f89a7ec',
    'e74db077b9cdff916d9a60f482dc5cc1d0be220fc701c7ce0d6408c6c6cf7034',
    'aeccaca7330c06f6305a6b78a2b633a1f65513eb0fd2cc17d67bbcd6820336ce',
    '9932b4e57fb59e6a1e021f6f7e5def5c60682af6600eb70ebd0268bdaefaabb0',
    'b638d291fc6a0588afeb0deccbcf8fa94e197fadf557614e8b978932d5e1ac65',
  ]),
};

/** The table of tokens per second and wall watts by system. */
export const aiBenchmarksSource: Source = {
  id: 'ai-benchmarks',
  licence: 'MIT',
  citation: 'Geerling, ai-benchmarks',
  known: sameVersion('bdf9441', '2025-12-18', [
    '772bbcd818e7cd44e33849cf9eeab3dd1448c4eb6f50000ab76cd40bd15dc1d4',
  ]),
};

/** Energy by weight format. */
export const ecocomputeSource: Source = {
  id: 'ecocompute',
  licence: 'CC-BY-4.0',
  citation: 'Zhang, H., EcoCompute quantisation measurements, 2026',
  known: {
    ...sameVersion('08f1142', '2026', ['b457c16f5745f38f3c3a01755582f18d2ba770dcd73c98d5c16ba42d4836a584']),
    ...sameVersion('3f733b0', '2026', [
      '11c1af18e4125969d7c55f5d313f901315f90aea38de32d0a23610f36b25c044',
      '6d0b7c1762757025d4d97902d645815d8acbe680773c8e1486f4a4f3cd11653b',
    ]),
  },
};

/** Energy by batch size: another repository of the same author, under another licence. */
export const ecocomputeBatchSource: Source = {
  ...ecocomputeSource,
  licence: 'MIT',
  known: sameVersion('12d7ad1', '2026-02-15', [
    '9d7f2db33874e84f500d112672b6e013e9e222fb7d6e800d386ef0a240b21a5b',
    '764f0202d95f5572a942472390e8ae7a77989632be9f4e43eebbbcef0758559b',
  ]),
};

/** A sweep over power caps and draft depths. */
export const powerCapSource: Source = {
  id: 'qwen38-mtp',
  licence: 'Apache-2.0',
  citation: 'cmoro-deusto, power-cap sweep in qwen38-mtp by sudoingX, 2026',
  known: sameVersion('c7bc415', '2026-08-18', [
    'eb7d02aa4100f02ee935d0f1273645fc8d9cf5e4bb3cfa569852a5f1b5e1be91',
  ]),
};

/** Runs of the reference implementation of intelligence per watt; licence and author are the run's own. */
export const ipwSource: Source = {
  id: 'ipw',
  licence: 'not stated',
  citation: 'run of HazyResearch/intelligence-per-watt',
  known: {},
};
