/** A chart as data: what Plotly draws into the element `id`. Theme and size come from the page. */
export interface Figure {
  readonly id: string;
  readonly data: readonly object[];
  readonly layout: object;
}
