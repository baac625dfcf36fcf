import type { Material } from '@perwatt/core';
import * as z from 'zod';

const Chunker = z.strictObject({
  by: z.enum(['chars', 'paragraphs', 'pages']),
  size: z.int().positive(),
  overlap: z.int().min(0).default(0),
});

/** What a supervisor has done to a document: how it is cut and what is asked of each piece. It is data; nothing in it runs. */
export const JobPlan = z.object({
  chunker: Chunker.refine(({ size, overlap }) => overlap < size, 'overlap must be less than size'),
  tasks: z
    .array(
      z.object({ id: z.coerce.string(), instruction: z.string().min(1), advice: z.string().default('') }),
    )
    .min(1)
    .max(3),
  samples: z.int().min(1).max(16).default(1),
});
/** A plan that was checked. */
export type JobPlan = z.infer<typeof JobPlan>;

/** What the plan's form is, in words for a prompt. */
export const planForm = `{"chunker": {"by": "chars" | "paragraphs" | "pages", "size": n, "overlap": n}, "tasks": [at most 3 of {"id": "…", "instruction": "…", "advice": "…"}], "samples": n}`;

/** Characters that count as a page where the text has no page breaks. */
const PAGE_CHARS = 3000;

/**
 * The document in pieces by a plan's chunker: `size` characters, paragraphs (separated by blank lines) or pages (form feeds, else
 * 3,000 characters) each, of which `overlap` are repeated from the piece before.
 */
export function chunksOf({ passages }: Material, { by, size, overlap }: JobPlan['chunker']): string[] {
  const text = passages.map((p) => `[${p.key}]\n${p.text}`).join('\n\n');
  if (by === 'chars') return windows([...text], { size, overlap }).map((part) => part.join(''));
  if (by === 'paragraphs')
    return windows(text.split(/\n\s*\n/), { size, overlap }).map((part) => part.join('\n\n'));
  const pages = text.includes('\f')
    ? text.split('\f')
    : windows([...text], { size: PAGE_CHARS, overlap: 0 }).map((p) => p.join(''));
  return windows(pages, { size, overlap }).map((part) => part.join('\n'));
}

function windows<T>(
  parts: readonly T[],
  { size, overlap }: { readonly size: number; readonly overlap: number },
): T[][] {
  const out: T[][] = [];
  for (let start = 0; start < parts.length; start += size - overlap) {
    out.push(parts.slice(start, start + size));
    if (start + size >= parts.length) break;
  }
  return out;
}
