/** Draws the figures of a page in its colours, again when those change; a click on a mark opens its cell. */
export const figuresScript = `
const fixed = dataOf('figures') ?? [];
const figureList = () => (tradeFigure === null ? fixed : [...fixed, tradeFigure()]);
const plotConfig = {
  responsive: true,
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: '',
  toImageButtonOptions: { format: 'svg' },
  modeBarButtonsToRemove: ['lasso2d', 'select2d'],
};
const themed = (layout, place) => {
  const style = getComputedStyle(root);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axes = Object.entries(layout)
    .filter(([key]) => /^[xy]axis\\d*$/.test(key))
    .map(([key, given]) => [
      key,
      { gridcolor: colour('--line'), zerolinecolor: colour('--line'), linecolor: colour('--line'), automargin: true, ...given },
    ]);
  return {
    margin: { l: 56, r: 16, t: 16, b: 56 },
    legend: { orientation: 'h', y: -(narrow.matches ? 58 : 62) / Math.max(place.clientHeight - 120, 120), yanchor: 'top', x: 0, itemsizing: 'constant' },
    hoverlabel: { align: 'left', font: { size: 13 } },
    ...layout,
    paper_bgcolor: 'rgba(0,0,0,0)',
    plot_bgcolor: 'rgba(0,0,0,0)',
    font: { family: 'system-ui, "DejaVu Sans", sans-serif', size: narrow.matches ? 11 : 13, color: colour('--text') },
    ...Object.fromEntries(axes),
  };
};
const drawn = new Set();
const drawFigure = async ({ id, data, layout }) => {
  const place = byId(id);
  if (place === null) return;
  try {
    await Plotly.react(place, data, themed(layout, place), plotConfig);
  } catch (error) {
    place.textContent = 'This figure could not be drawn: ' + error.message;
    return;
  }
  if (drawn.has(id)) return;
  drawn.add(id);
  place.on('plotly_click', (event) => follow(String(event.points[0]?.id ?? '')));
};
const turn = () => new Promise((resolve) => setTimeout(resolve));
const drawAll = async () => {
  for (const figure of figureList()) {
    await drawFigure(figure);
    await turn();
  }
};
shownChanged.addEventListener('change', drawAll);
drawAll().then(() => {
  root.dataset.ready = 'true';
});
`;
