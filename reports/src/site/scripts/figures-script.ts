/**
 * Draws the figures of a page in its colours when the reader comes near them, all of them for whoever prints, and those that
 * are drawn again when the colours change; a click on a mark opens its cell.
 */
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
const legendFor = ({ id, data, layout }, { width, height: own }) => {
  const entries = data.filter(({ showlegend, name }) => showlegend !== false && name !== undefined);
  const longest = Math.max(0, ...entries.map(({ name }) => name.length));
  const across = Math.max(1, Math.floor((width - 90) / (50 + 7.2 * longest)));
  const shown = entries.length > 1 && entries.length <= 40;
  const rows = shown ? Math.ceil(entries.length / across) : 0;
  const base = baseHeights.get(id) ?? layout.height ?? own;
  baseHeights.set(id, base);
  const height = base + Math.max(rows - 2, 0) * 20;
  return { shown, height, y: -64 / Math.max(height - 88 - rows * 20, 100) };
};
const sizeOf = (place) => ({ width: place.clientWidth, height: place.clientHeight });
const themed = (figure, place) => {
  const { layout } = figure;
  const style = getComputedStyle(root);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axes = Object.entries(layout)
    .filter(([key]) => /^[xy]axis\\d*$/.test(key))
    .map(([key, given]) => [
      key,
      { gridcolor: colour('--line'), zerolinecolor: colour('--line'), linecolor: colour('--line'), automargin: true, ...given },
    ]);
  const { shown, height, y } = legendFor(figure, sizeOf(place));
  place.style.height = height + 'px';
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
/** Figures that nobody has come near yet, by their places. */
const waiting = new Map();
const drawFigure = async (figure) => {
  const place = byId(figure.id);
  if (place === null) return;
  waiting.delete(place);
  near?.unobserve(place);
  try {
    await Plotly.react(place, figure.data, themed(figure, place), plotConfig);
  } catch (error) {
    place.textContent = 'This figure could not be drawn: ' + error.message;
    return;
  }
  if (drawn.has(figure.id)) return;
  drawn.add(figure.id);
  place.on('plotly_click', (event) => follow(String(event.points[0]?.id ?? '')));
};
const turn = () => new Promise((resolve) => setTimeout(resolve));
const drawOneByOne = async (figures) => {
  for (const figure of figures) {
    await drawFigure(figure);
    await turn();
  }
};
const ready = () => {
  root.dataset.ready = 'true';
};
const comeNear = (entries) => {
  const places = entries.filter(({ isIntersecting, target }) => isIntersecting && waiting.has(target));
  drawOneByOne(places.map(({ target }) => waiting.get(target))).then(ready);
};
const near =
  typeof IntersectionObserver === 'undefined' ? null : new IntersectionObserver(comeNear, { rootMargin: '75% 0px' });
const begin = () => {
  const placed = figureList().flatMap((figure) => {
    const place = byId(figure.id);
    return place === null ? [] : [{ figure, place, size: sizeOf(place) }];
  });
  for (const { figure, place, size } of placed) {
    place.style.height = legendFor(figure, size).height + 'px';
    waiting.set(place, figure);
  }
  if (near === null || placed.length === 0) drawOneByOne([...waiting.values()]).then(ready);
  else for (const { place } of placed) near.observe(place);
};
shownChanged.addEventListener('change', () => drawOneByOne(figureList().filter(({ id }) => drawn.has(id))));
addEventListener('beforeprint', () => {
  for (const figure of [...waiting.values()]) drawFigure(figure);
});
begin();
`;
