/** The trade-off page: any two metrics, linear or logarithmic, per group of questions, with the front and its list. */
export const paretoScript = `
const trade = dataOf('data-pareto');
const tradeFigure = trade === null ? null : (() => {
  const { noun, columns, models, groups, points, shares } = trade;
  const colours = new Map(models.map(({ name, colour }) => [name, colour]));
  const symbols = ['circle', 'diamond', 'square', 'triangle-up', 'cross', 'star', 'hexagon', 'triangle-down'];
  const [boxX, boxY, boxGroup] = ['pareto-x', 'pareto-y', 'pareto-group'].map(byId);
  const [logX, logY, names] = ['pareto-log-x', 'pareto-log-y', 'pareto-names'].map(byId);
  const unitOf = ({ unit }) => (unit === '1' ? '' : ' (' + unit + ')');
  for (const box of [boxX, boxY])
    box.append(...columns.map((column) => element('option', { value: column.id }, column.title + unitOf(column))));
  const single = groups.map((group, i) => [group, i]).filter(([group]) => !group.pooled);
  boxGroup.append(
    element('option', { value: 'each' }, single.length > 1 ? 'all, a front each' : (single[0]?.[0].name ?? '')),
    ...(single.length > 1 ? single.map(([{ name }, i]) => element('option', { value: i }, name)) : []),
    ...groups.flatMap(({ name, pooled }, i) => (pooled ? [element('option', { value: i }, name)] : [])),
  );
  const has = (id) => columns.some((column) => column.id === id);
  const pick = (box, ...wanted) => {
    const found = wanted.find(has);
    if (found !== undefined) box.value = found;
  };
  pick(boxX, 'energy_per_query_j', 'energy_per_output_token_j', 'sequential_tokens', 'e2e_from_dispatch_p50_ns');
  pick(boxY, 'accuracy', 'tokens_per_s');
  const at = (box) => columns.findIndex(({ id }) => id === box.value);
  const scale = ({ unit }) => (unit === 'ns' ? 1e-9 : 1);
  const shownUnit = ({ unit }) => (unit === 'ns' ? 's' : unit);
  const chosen = () => {
    const [x, y] = [at(boxX), at(boxY)];
    const wanted = boxGroup.value;
    const own = points.filter(
      ({ group, figures }) =>
        (wanted === 'each' ? !groups[group].pooled : group === Number(wanted)) && figures[x] != null && figures[y] != null,
    );
    return { x, y, own };
  };
  const badness = ({ better }, value) => (better === 'higher' ? -value : value);
  const frontOf = (own, x, y) => {
    const places = own
      .filter(({ verdict, figures }) => verdict !== 'invalid' && figures[x][4] === undefined && figures[y][4] === undefined)
      .map((point) => [point, badness(columns[x], point.figures[x][0]), badness(columns[y], point.figures[y][0])])
      .sort((a, b) => a[1] - b[1] || a[2] - b[2]);
    const front = [];
    let best = Infinity;
    let from = NaN;
    for (const [point, across, up] of places) {
      if (up < best || (up === best && across === from)) {
        front.push(point);
        best = up;
        from = across;
      }
    }
    return front;
  };
  const byGroup = (own) => [...new Set(own.map(({ group }) => group))].map((group) => own.filter((point) => point.group === group));
  const share = (point) => (shares[boxX.value + '|' + boxY.value] ?? shares[boxY.value + '|' + boxX.value] ?? {})[point.id] ?? null;
  const percent = (value) => (value === null ? '–' : value > 0.995 && value < 1 ? '>99 %' : Math.round(100 * value) + ' %');
  const told = (point, column) => {
    const [, , , text] = point.figures[column];
    const { title, unit } = columns[column];
    return title + ' ' + text + (unit === '1' || unit === 'ns' ? '' : ' ' + unit);
  };
  const bars = (own, column, colour) => {
    const factor = scale(columns[column]);
    return {
      type: 'data',
      symmetric: false,
      array: own.map(({ figures }) => factor * ((figures[column][2] ?? figures[column][0]) - figures[column][0])),
      arrayminus: own.map(({ figures }) => factor * (figures[column][0] - (figures[column][1] ?? figures[column][0]))),
      thickness: 1,
      width: own.length > 200 ? 0 : 3,
      color: colour + '88',
    };
  };
  const axisOf = (column, log, title) => ({
    title: { text: title },
    ...(log ? { type: 'log' } : { type: 'linear', rangemode: 'tozero' }),
    ...(!log && columns[column].unit === '1' && columns[column].id.startsWith('accuracy') ? { range: [-0.03, 1.03] } : {}),
  });
  const titleOf = (column) => columns[column].title + (shownUnit(columns[column]) === '1' ? '' : ' (' + shownUnit(columns[column]) + ')');
  const figure = () => {
    const { x, y, own } = chosen();
    const fronts = byGroup(own).map((group) => frontOf(group, x, y));
    const onFront = new Set(fronts.flat());
    const [fx, fy] = [scale(columns[x]), scale(columns[y])];
    const shape = columns[x].better === 'higher' ? 'vh' : 'hv';
    const lines = fronts
      .filter((front) => front.length > 0)
      .map((front, i) => {
        const sorted = front.toSorted((a, b) => a.figures[x][0] - b.figures[x][0]);
        return {
          type: 'scatter',
          mode: 'lines',
          name: 'front',
          legendgroup: 'front',
          showlegend: i === 0,
          x: sorted.map(({ figures }) => fx * figures[x][0]),
          y: sorted.map(({ figures }) => fy * figures[y][0]),
          hoverinfo: 'skip',
          line: { shape, width: 1.5, dash: 'dot', color: '#888888' },
        };
      });
    const pairs = new Set(own.map(({ model, group }) => model + '|' + group)).size;
    const apart = pairs > 10;
    const marks = models.flatMap(({ name, colour }) =>
      byGroup(own.filter(({ model }) => model === name)).map((group) => {
        const [first] = group;
        const label = groups.length > 1 ? first.model + ' · ' + groups[first.group].name : first.model;
        return {
          type: 'scatter',
          mode: names.checked ? 'markers+text' : 'markers',
          name: label.replace(/[<>&]/g, '·') + (first.tier === '' ? '' : ' (' + first.tier + ')'),
          showlegend: !apart,
          ids: group.map(({ href, id }) => (href === '' ? id : href)),
          x: group.map(({ figures }) => fx * figures[x][0]),
          y: group.map(({ figures }) => fy * figures[y][0]),
          error_x: bars(group, x, colour),
          error_y: bars(group, y, colour),
          text: group.map(({ short }) => short),
          textposition: 'top right',
          textfont: { size: 10 },
          customdata: group.map((point) =>
            ['<b>' + point.name + '</b>', told(point, x), told(point, y), point.verdict]
              .concat(onFront.has(point) ? ['on the front' + (share(point) === null ? '' : ' in ' + percent(share(point)) + ' of draws')] : [])
              .join('<br>'),
          ),
          hovertemplate: '%{customdata}<extra></extra>',
          marker: {
            color: colour,
            size: group.map((point) => (onFront.has(point) ? 13 : 9)),
            opacity: group.map(({ verdict }) => (verdict === 'invalid' ? 0.3 : 1)),
            symbol: symbols[first.group % symbols.length] + (first.tier === '' ? '' : '-open'),
            line: { width: 2, color: colour },
          },
        };
      }),
    );
    const key = (name, marker) => ({ type: 'scatter', mode: 'markers', name: name.replace(/[<>&]/g, '·'), x: [null], y: [null], hoverinfo: 'skip', marker: { size: 10, ...marker } });
    const keys = !apart
      ? []
      : [
          ...models.filter(({ name }) => own.some(({ model }) => model === name)).map(({ name, colour }) => key(name, { color: colour })),
          ...[...new Set(own.map(({ group }) => group))].map((at) => key(groups[at].name, { color: '#8c8c8c', symbol: symbols[at % symbols.length] })),
        ];
    list(fronts, x, y, own.length);
    return {
      id: 'pareto',
      data: [...lines, ...marks, ...keys],
      layout: { xaxis: axisOf(x, logX.checked, titleOf(x)), yaxis: axisOf(y, logY.checked, titleOf(y)), hovermode: 'closest' },
    };
  };
  const list = (fronts, x, y, count) => {
    byId('pareto-head-x').textContent = titleOf(x);
    byId('pareto-head-y').textContent = titleOf(y);
    byId('pareto-front').replaceChildren(
      ...fronts.flatMap((front) =>
        front.map((point) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, ...(point.href === '' ? [point.name] : [element('a', { href: point.href }, point.name)])),
            element('td', { class: 'name' }, groups[point.group].name),
            element('td', { class: 'n' }, point.figures[x][3]),
            element('td', { class: 'n' }, point.figures[y][3]),
            element('td', { class: 'n' }, percent(share(point))),
            element('td', {}, element('span', { class: 'badge ' + point.verdict }, point.verdict)),
          ),
        ),
      ),
    );
    const on = fronts.reduce((sum, front) => sum + front.length, 0);
    byId('pareto-status').textContent = count === 0 ? 'No ' + noun + ' has both figures.' : on + ' of ' + count + ' ' + noun + 's on a front';
  };
  const wide = (column) => {
    if (columns[column].unit === '1' && columns[column].better === 'higher') return false;
    const values = chosen().own.map(({ figures }) => figures[column][0]);
    return values.length > 1 && Math.min(...values) > 0 && Math.max(...values) > 20 * Math.min(...values);
  };
  const suit = () => {
    logX.checked = wide(at(boxX));
    logY.checked = wide(at(boxY));
  };
  const redraw = () => drawFigure(figure());
  for (const box of [boxX, boxY, boxGroup])
    box.addEventListener('change', () => {
      suit();
      redraw();
    });
  for (const box of [logX, logY, names]) box.addEventListener('change', redraw);
  const choose = (pair) => {
    const [x, y] = pair.split('|');
    if (!has(x) || !has(y)) return;
    boxX.value = x;
    boxY.value = y;
    suit();
  };
  for (const button of document.querySelectorAll('[data-pareto]')) {
    const [x, y] = button.dataset.pareto.split('|');
    if (!has(x) || !has(y)) button.remove();
    else
      button.addEventListener('click', () => {
        choose(button.dataset.pareto);
        redraw();
      });
  }
  const pairsWith = (x) => columns.find((_, y) => y !== x && points.some(({ figures }) => figures[x] != null && figures[y] != null));
  if (boxX.value === boxY.value || chosen().own.length === 0) boxY.value = pairsWith(at(boxX))?.id ?? boxY.value;
  suit();
  choose(decodeURIComponent(location.hash.slice(1)));
  names.checked = chosen().own.length <= 16;
  byId('pareto-controls').hidden = false;
  return figure;
})();
`;
