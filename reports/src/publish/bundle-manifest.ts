import { PerwattError } from '@perwatt/core';
import * as z from 'zod';

/** Version of a bundle's layout. A reader refuses a newer one. */
export const BUNDLE_VERSION = 1;
/** The manifest, and the first file of a bundle. */
export const BUNDLE_FILE = 'bundle.json';
/** The results that the sender claims. */
export const CLAIMS_FILE = 'results.json';
/** Folder of the run. */
export const RUN_FOLDER = 'run';

const hex = z.string().regex(/^[0-9a-f]{64}$/, 'expected a sha256 in hex');
const count = z.int().min(0);

/**
 * A path that stays in its folder on any system: names of letters, digits and `. _ + @ = , : -`, none of them beginning with a
 * dot, parted by `/`.
 */
export const isSafePath = (path: string): boolean =>
  path.length <= 255 &&
  /^(?:[A-Za-z0-9_+@=,][A-Za-z0-9._+@=,:-]*)(?:\/[A-Za-z0-9_+@=,][A-Za-z0-9._+@=,:-]*)*$/.test(path);

/** `bundle.json`: what a bundle holds, and what it claims. */
export const BundleManifest = z.strictObject({
  bundle_version: z.literal(BUNDLE_VERSION),
  run_id: z.string(),
  perwatt_version: z.string(),
  metric_spec_version: z.int(),
  files: z
    .array(
      z.strictObject({
        path: z.string().refine(isSafePath, 'a path must stay in its folder'),
        bytes: count,
        sha256: hex,
      }),
    )
    .max(1_000_000),
  rewritten: z.array(z.strictObject({ file: z.string(), original_sha256: hex.nullable() })),
  redacted: z.strictObject({
    hosts: count,
    users: count,
    home_paths: count,
    secrets: count,
    texts: z.boolean(),
  }),
});
export type BundleManifest = z.infer<typeof BundleManifest>;

/** A manifest from its text. Throws `INPUT_INVALID` that names every wrong place. */
export function parseBundleManifest(text: string, path: string): BundleManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PerwattError('INPUT_INVALID', `${path} is no bundle: ${BUNDLE_FILE} is not JSON`, { cause });
  }
  const parsed = BundleManifest.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || 'the whole'}: ${issue.message}`);
  throw new PerwattError('INPUT_INVALID', `${path} is no bundle that can be read: ${problems.join('; ')}`);
}
