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
const baseHeights = new Map();
/** Room for the legend below a figure: the place grows with its rows, so that the figure itself keeps its height. */
const legendFor = (data, layout, place) => {
  const entries = data.filter(({ showlegend, name }) => showlegend !== false && name !== undefined);
  const longest = Math.max(0, ...entries.map(({ name }) => name.length));
  const across = Math.max(1, Math.floor((place.clientWidth - 90) / (50 + 7.2 * longest)));
  const shown = entries.length > 1 && entries.length <= 40;
  const rows = shown ? Math.ceil(entries.length / across) : 0;
  const base = baseHeights.get(place.id) ?? layout.height ?? place.clientHeight;
  baseHeights.set(place.id, base);
  const height = base + Math.max(rows - 2, 0) * 20;
  place.style.height = height + 'px';
  return { shown, height, y: -64 / Math.max(height - 88 - rows * 20, 100) };
};
const themed = (data, layout, place) => {
  const style = getComputedStyle(root);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axes = Object.entries(layout)
    .filter(([key]) => /^[xy]axis\\d*$/.test(key))
    .map(([key, given]) => [
      key,
      { gridcolor: colour('--line'), zerolinecolor: colour('--line'), linecolor: colour('--line'), automargin: true, ...given },
    ]);
  const { shown, height, y } = legendFor(data, layout, place);
  return {
    margin: { l: 56, r: 16, t: 16, b: 56 },
    legend: { orientation: 'h', y, yanchor: 'top', x: 0, itemsizing: 'constant' },
    hoverlabel: { align: 'left', font: { size: 13 } },
    ...layout,
    height,
    showlegend: shown && layout.showlegend !== false,
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
    await Plotly.react(place, data, themed(data, layout, place), plotConfig);
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
