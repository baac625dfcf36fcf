import { readFileSync } from 'node:fs';
import * as z from 'zod';

const Figure = z.strictObject({
  id: z.string(),
  quantity: z.string(),
  /** One figure, or the two ends of a range. */
  value: z.union([z.number(), z.tuple([z.number(), z.number()])]),
  unit: z.enum(['1', '%', 'x', 'pp', 'GB', 'count']),
  /** What the figure says of its value. */
  relation: z.enum(['is', 'about', 'at_least', 'at_most', 'more_than', 'range', 'conflicting']),
  year: z.int().nullable(),
  where: z.enum(['paper', 'secondary', 'background', 'repository']),
  trust: z.enum(['high', 'medium', 'low', 'conflicting']),
  note: z.string().nullable(),
});

const File = z.strictObject({
  format: z.literal('perwatt-published/1'),
  provenance: z.literal('published'),
  paper: z.strictObject({
    title: z.string(),
    arxiv: z.string(),
    first_version: z.string(),
    last_version: z.string(),
  }),
  figures: z.array(Figure),
  not_found: z.array(z.string()),
});

/** A figure that somebody else published. It is shown beside measured ones with its trust, and never joins them. */
export type PublishedFigure = z.infer<typeof Figure>;

/** Figures of one paper, with what could not be found of it. */
export type PublishedFigures = z.infer<typeof File>;

let figures: PublishedFigures | null = null;

/** Published figures of "Intelligence per Watt" (arXiv 2511.07885), each with where it was read and how far to trust it. */
export function publishedFigures(): PublishedFigures {
  figures ??= File.parse(
    JSON.parse(readFileSync(new URL('../../catalogue/published.json', import.meta.url), 'utf8')),
  );
  return figures;
}
