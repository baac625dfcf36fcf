import type { ModelSize } from './model.js';
import { createReals, type Precision, type Reals } from './reals.js';

/** What a layer computed, a row a token; kept for the way back. */
export interface LayerSpace {
  /** What the layer was given. */
  readonly x: Reals;
  readonly normed1: Reals;
  readonly scale1: Reals;
  readonly qkv: Reals;
  readonly shares: Reals;
  readonly attended: Reals;
  /** The stream after attention. */
  readonly middle: Reals;
  readonly normed2: Reals;
  readonly scale2: Reals;
  readonly hidden: Reals;
}

/** Room for one pass forward and back over so many rows, used again by the next. */
export interface Workspace {
  readonly capacity: number;
  readonly layers: readonly LayerSpace[];
  readonly x: Reals;
  readonly normed: Reals;
  readonly scale: Reals;
  /** Logits; `toProbabilities` turns them into probabilities. */
  readonly logits: Reals;
  readonly d_logits: Reals;
  readonly d_x: Reals;
  readonly d_wide: Reals;
  readonly d_qkv: Reals;
  readonly d_hidden: Reals;
}

function createWorkspace(size: ModelSize, capacity: number, precision: Precision): Workspace {
  const { width, hidden, heads, positions, vocabulary } = size;
  const rows = (columns: number) => createReals(capacity * columns, precision);
  const layer = (): LayerSpace => ({
    x: rows(width),
    normed1: rows(width),
    scale1: rows(1),
    qkv: rows(3 * width),
    shares: rows(heads * positions),
    attended: rows(width),
    middle: rows(width),
    normed2: rows(width),
    scale2: rows(1),
    hidden: rows(hidden),
  });
  return {
    capacity,
    layers: Array.from({ length: size.layers }, layer),
    x: rows(width),
    normed: rows(width),
    scale: rows(1),
    logits: rows(vocabulary),
    d_logits: rows(vocabulary),
    d_x: rows(width),
    d_wide: rows(width),
    d_qkv: rows(3 * width),
    d_hidden: rows(hidden),
  };
}

/** Gives room for so many rows, and keeps it for the next time. */
export function workspaces(size: ModelSize, precision: Precision): (rows: number) => Workspace {
  let kept: Workspace | null = null;
  return (rows) => {
    if (kept === null || kept.capacity < rows)
      kept = createWorkspace(size, Math.ceil(rows * 1.25), precision);
    return kept;
  };
}
