/** Six digits that the chart library makes up anew for every drawing, where they stand: in ids, what points to them, classes of traces. */
const madeUp =
  /(?<=\bid="(?:clip|defs-|topdefs-|legend\d*|g)|url\((?:&quot;)?#(?:clip|legend\d*|g)|href="#(?:clip|legend\d*|g)|class="trace [a-z ]{0,40}trace)[0-9a-f]{6}/g;

/**
 * An SVG of the chart library with the ids that differ from drawing to drawing numbered in the order in which they first
 * stand in it: two drawings of one figure are then the same text.
 */
export function normaliseSvg(svg: string): string {
  const numbers = new Map<string, string>();
  return svg.replace(madeUp, (id) => {
    const known = numbers.get(id) ?? `-n${numbers.size + 1}`;
    numbers.set(id, known);
    return known;
  });
}
