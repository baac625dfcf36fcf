import { readFileSync } from 'node:fs';
import { didYouMean, issueText, issueWords, PerwattError } from '@perwatt/core';
import type * as z from 'zod';
import { parseOwnYaml } from '../own-yaml.js';
import { type AmountRange, FactorFile, OwnFactors, PriceFile } from './factor-schema.js';

/** A file of factors or prices: its text in YAML or JSON, and its name for messages. */
export interface FactorText {
  readonly text: string;
  readonly file: string;
}

/** Factors with the names and dates of the files they come from. */
export interface Factors extends FactorFile {
  /** `id date` of each file, the shipped one first. */
  readonly versions: readonly string[];
}

/** What turns one joule of a region into carbon, water and cost; each a range. */
export interface RegionFactors {
  readonly region: string;
  readonly name: string;
  readonly pue: AmountRange;
  /** g CO2e per kWh at the meter of the data centre. */
  readonly carbon_g_per_kwh: AmountRange;
  readonly wue_l_per_kwh: AmountRange;
  readonly water_l_per_kwh: AmountRange;
  /** Null when no tariff is known for the region. */
  readonly tariff_per_kwh: (AmountRange & { readonly currency: string }) | null;
  readonly versions: readonly string[];
  /** Citations of the factors, those from memory marked. */
  readonly sources: readonly string[];
}

const shipped = (name: string): string =>
  readFileSync(new URL(`../../factors/${name}.json`, import.meta.url), 'utf8');

const versionOf = ({ id, date }: { readonly id: string; readonly date: string }) => `${id} ${date}`;

/** The factors that Perwatt ships. */
export function shippedFactors(): Factors {
  const file = FactorFile.parse(JSON.parse(shipped('footprint')));
  return { ...file, versions: [versionOf(file)] };
}

/**
 * `factors` with a user's own in their place: a region or figure that the file has replaces the one there was. Throws
 * `INPUT_INVALID` naming file and field of every problem.
 */
export function withOwnFactors(factors: Factors, own: FactorText): Factors {
  const { pue, wue_l_per_kwh, water_l_per_kwh, ...rest } = parsed(own, OwnFactors);
  const merged = {
    ...factors,
    ...rest,
    pue: pue ?? factors.pue,
    wue_l_per_kwh: wue_l_per_kwh ?? factors.wue_l_per_kwh,
    water_l_per_kwh: water_l_per_kwh ?? factors.water_l_per_kwh,
    regions: { ...factors.regions, ...rest.regions },
    sources: { ...factors.sources, ...rest.sources },
    versions: [...factors.versions, versionOf(rest)],
  };
  const unnamed = factorsIn(merged).find(({ source }) => !(source in merged.sources));
  if (unnamed === undefined) return merged;
  throw new PerwattError(
    'INPUT_INVALID',
    `${own.file}: source "${unnamed.source}" is not listed under sources`,
  );
}

const factorsIn = (file: FactorFile) => [
  file.pue,
  file.wue_l_per_kwh,
  file.water_l_per_kwh,
  ...Object.values(file.regions).flatMap((region) => [
    region.carbon_g_per_kwh,
    ...(region.water_l_per_kwh === undefined ? [] : [region.water_l_per_kwh]),
    ...(region.tariff_per_kwh === undefined ? [] : [region.tariff_per_kwh]),
  ]),
];

/** The factors of a region. Throws `USAGE` with the nearest name when there is no such region. */
export function factorsOfRegion(factors: Factors, region: string): RegionFactors {
  const found = factors.regions[region];
  if (found === undefined) {
    throw new PerwattError(
      'USAGE',
      `no factors for region "${region}"${didYouMean(region, Object.keys(factors.regions))}`,
    );
  }
  const water = found.water_l_per_kwh ?? factors.water_l_per_kwh;
  const used = [factors.pue, found.carbon_g_per_kwh, factors.wue_l_per_kwh, water, found.tariff_per_kwh];
  const keys = new Set(used.flatMap((factor) => (factor === undefined ? [] : [factor.source])));
  return {
    region,
    name: found.name,
    pue: factors.pue,
    carbon_g_per_kwh: found.carbon_g_per_kwh,
    wue_l_per_kwh: factors.wue_l_per_kwh,
    water_l_per_kwh: water,
    tariff_per_kwh: found.tariff_per_kwh ?? null,
    versions: factors.versions,
    sources: [...keys].flatMap((key) => {
      const source = factors.sources[key];
      return source === undefined ? [] : [`${key}: ${source.citation} (${source.year}, ${source.trust})`];
    }),
  };
}

/** The token prices that Perwatt ships. */
export const shippedPrices = (): PriceFile => PriceFile.parse(JSON.parse(shipped('prices')));

/** A user's price file. Throws `INPUT_INVALID` naming file and field of every problem. */
export const parsePriceFile = (own: FactorText): PriceFile => parsed(own, PriceFile);

function parsed<T>({ text, file }: FactorText, schema: z.ZodType<T>): T {
  const read = parseOwnYaml(text);
  if ('problems' in read) throw new PerwattError('INPUT_INVALID', `${file}: ${read.problems.join('; ')}`);
  const result = schema.safeParse(read.value, { error: issueWords, reportInput: true });
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) =>
    issueText(issue.path.map(String).join('.') || 'the file', issue),
  );
  throw new PerwattError('INPUT_INVALID', `${file}: ${problems.join('; ')}`);
}
