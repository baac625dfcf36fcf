import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where a weight file can be had from. */
export type WeightLocation =
  | { readonly kind: 'hub'; readonly repo: string; readonly revision: string; readonly file: string }
  | {
      readonly kind: 'wheel';
      /** Files inside Python wheels; put together in this order they are the weight file. */
      readonly parts: readonly { readonly package: string; readonly member: string }[];
    };

/** One model that Perwatt knows how to get. */
export interface CatalogueModel {
  readonly id: string;
  readonly name: string;
  readonly family: string;
  /** A base model has no chat template and continues text; accuracy on instructions is low by nature. */
  readonly tuning: 'instruct' | 'base';
  readonly params_total: number;
  /** Parameters used per token; fewer than the total only for mixtures of experts. */
  readonly params_active: number;
  readonly context_tokens: number;
  /** Day the publisher released the weights, `YYYY-MM-DD`. */
  readonly release_date: string;
  readonly licence: string;
  readonly quantisation: string;
  /** Name of the weight file. */
  readonly file: string;
  readonly locations: readonly WeightLocation[];
}

/** Size and sha256 that a file must have. */
export interface Pin {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Pins of weight files by model id, and of wheels by `package==version`. */
export interface Lock {
  readonly files: Readonly<Record<string, Pin>>;
  readonly wheels: Readonly<Record<string, Pin>>;
}

/** Folder with `catalogue.json` and `models.lock.json`. */
const catalogueFolder = fileURLToPath(new URL('../../models/', import.meta.url));

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

export const readCatalogue = (folder = catalogueFolder): readonly CatalogueModel[] =>
  (readJson(join(folder, 'catalogue.json')) as { readonly models: readonly CatalogueModel[] }).models;

export const readLock = (folder = catalogueFolder): Lock =>
  readJson(join(folder, 'models.lock.json')) as Lock;
