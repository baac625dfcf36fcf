/**
 * What runs in the reader's browser: draws the figures in the colours of the page, again when the reader's colour scheme
 * changes, and marks the page ready (`data-ready` on the root element) once all are drawn.
 */
export const pageScript = `
'use strict';
(() => {
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById('figures').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const narrow = matchMedia('(max-width: 640px)');
  const config = {
    responsive: true,
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: '',
    toImageButtonOptions: { format: 'svg' },
    modeBarButtonsToRemove: ['lasso2d', 'select2d'],
  };
  const axis = (given, colours) => ({
    gridcolor: colours.grid,
    zerolinecolor: colours.grid,
    linecolor: colours.grid,
    automargin: true,
    ...given,
  });
  const themed = (layout) => {
    const style = getComputedStyle(root);
    const colours = { text: style.getPropertyValue('--text').trim(), grid: style.getPropertyValue('--line').trim() };
    return {
      ...layout,
      paper_bgcolor: 'rgba(0,0,0,0)',
      plot_bgcolor: 'rgba(0,0,0,0)',
      font: { family: 'system-ui, "DejaVu Sans", sans-serif', size: narrow.matches ? 11 : 13, color: colours.text },
      margin: { l: 56, r: 16, t: 16, b: 56 },
      legend: { orientation: 'h', y: narrow.matches ? -0.3 : -0.2, yanchor: 'top', x: 0 },
      hoverlabel: { align: 'left' },
      xaxis: axis(layout.xaxis, colours),
      yaxis: axis(layout.yaxis, colours),
    };
  };
  const draw = () =>
    Promise.all(figures.map(({ id, data, layout }) => Plotly.react(id, data, themed(layout), config)));
  const ready = () => {
    root.dataset.ready = 'true';
  };
  const failed = (error) => {
    for (const { id } of figures) {
      const place = document.getElementById(id);
      place.textContent = 'This figure could not be drawn: ' + error.message;
    }
    ready();
  };
  dark.addEventListener('change', draw);
  narrow.addEventListener('change', draw);
  draw().then(ready, failed);
})();
`;
