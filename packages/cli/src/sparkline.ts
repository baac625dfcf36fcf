const bars = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * The last `width` values as one line of bars that start at 0 and reach up to the greatest of them. A value that isn't
 * known is a blank; fewer values leave room at the left.
 */
export function sparkline(values: readonly (number | null)[], width: number): string {
  const shown = width > 0 ? values.slice(-width).map(known) : [];
  const most = Math.max(0, ...shown.map((value) => value ?? 0));
  const line = shown.map((value) => {
    if (value === null) return ' ';
    const height = most > 0 ? Math.round((value / most) * bars.length) : 1;
    return bars[Math.max(height, 1) - 1] ?? ' ';
  });
  return line.join('').padStart(width);
}

const known = (value: number | null) => (value !== null && Number.isFinite(value) ? value : null);
