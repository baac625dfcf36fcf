/** The result table: sorts by any column, filters, shows the columns that are asked for, and copies what it shows. */
export const resultsScript = `
const results = dataOf('data-results');
if (results !== null) {
  const { axes, columns, rows, reasons, noun } = results;
  const table = byId('results-table');
  const controls = byId('results-controls');
  const search = byId('results-search');
  const front = byId('results-front');
  const status = byId('results-status');
  const more = element('button', { type: 'button', class: 'plain no-print', id: 'results-more' });
  let most = results.rows_at_first;
  const shown = new Set(results.shown);
  const picked = new Map();
  let sort = { key: null, up: true };
  const shownColumns = () => columns.map((column, at) => ({ ...column, at })).filter(({ id }) => shown.has(id));
  const figure = (row, at) => (typeof row.figures[at] === 'number' ? null : row.figures[at]);
  const valueOf = (row, key) => {
    const axis = axes.findIndex(({ name }) => name === key);
    if (axis >= 0) return row.axes[axis];
    if (key === 'verdict') return ['valid', 'flagged', 'invalid'].indexOf(row.verdict);
    return figure(row, columns.findIndex(({ id }) => id === key))?.v ?? null;
  };
  const compare = (a, b) => {
    const [x, y] = [valueOf(a, sort.key), valueOf(b, sort.key)];
    if (x === null || y === null) return (x === null ? 1 : 0) - (y === null ? 1 : 0);
    const way = typeof x === 'string' ? x.localeCompare(y) : x - y;
    return sort.up ? way : -way;
  };
  const seen = () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
    const found = rows.filter((row) => {
      const text = [...row.axes, row.verdict, ...row.reasons.flat(), ...row.tiers.map(([word]) => word)].join(' ').toLowerCase();
      return (
        words.every((word) => text.includes(word)) &&
        (!front?.checked || row.front) &&
        [...picked].every(([key, value]) => value === '' || String(key === 'verdict' ? row.verdict : valueOf(row, key)) === value)
      );
    });
    return sort.key === null ? found : found.toSorted(compare);
  };
  const head = (key, title, unit, number) => {
    const state = sort.key === key ? (sort.up ? 'ascending' : 'descending') : 'none';
    const button = element('button', { type: 'button', class: 'sort' }, element('span', {}, title));
    if (unit !== '') button.append(element('small', {}, unit));
    button.addEventListener('click', () => {
      const better = columns.find(({ id }) => id === key)?.better;
      sort = { key, up: sort.key === key ? !sort.up : better !== 'higher' };
      render();
      table.querySelector('[data-key="' + CSS.escape(key) + '"] button')?.focus();
    });
    return element('th', { scope: 'col', 'aria-sort': state, 'data-key': key, class: number ? 'n' : null }, button);
  };
  const unitText = (unit) => (unit === '1' || unit === 'ns' ? '' : unit);
  const small = (text, wrap) => element('small', wrap ? { class: 'wrap' } : {}, text);
  const figureCell = (row, { id, at }) => {
    const own = row.figures[at];
    if (typeof own === 'number')
      return element('td', { class: 'n', title: reasons[own] }, '–', small(reasons[own], true));
    const below = [...(own.below === null ? [] : [small(own.below, false)])];
    const lines = id === 'accuracy' ? row.lines.map((line) => small(line, true)) : [];
    return element('td', { class: 'n', title: own.title ?? null }, own.text, ...below, ...lines);
  };
  const badge = (kind, text, title) => element('span', { class: 'badge ' + kind, title: title ?? null }, text);
  const rowOf = (row) => {
    const dot = element('span', { class: 'dot' });
    dot.style.background = row.colour;
    const name = element('th', { scope: 'row' }, dot, row.href === '' ? row.axes[0] : element('a', { href: row.href }, row.axes[0]));
    const tiers = row.tiers.flatMap(([word, text]) => [badge(word === 'measured' || word === 'replayed' ? 'tier' : word, word, text), ' ']);
    const verdict = element('td', { class: 'reasons' }, badge(row.verdict, row.verdict));
    if (row.front) verdict.append(' ', badge('front', 'front'));
    for (const [code, text] of row.reasons) verdict.append(' ', badge('reason', code, text));
    return element(
      'tr',
      { 'data-href': row.href },
      name,
      ...row.axes.slice(1).map((text) => element('td', { class: 'name' }, text)),
      element('td', {}, ...tiers),
      verdict,
      ...shownColumns().map((column) => figureCell(row, column)),
    );
  };
  const render = () => {
    const found = seen();
    const heads = [
      ...axes.map(({ name, title }) => head(name, title, '', false)),
      element('th', { scope: 'col' }, 'Joules are'),
      head('verdict', 'Verdict', '', false),
      ...shownColumns().map(({ id, title, unit }) => head(id, title, unitText(unit), true)),
    ];
    table.tHead.replaceChildren(element('tr', {}, ...heads));
    table.tBodies[0].replaceChildren(...found.slice(0, most).map(rowOf));
    more.hidden = found.length <= most;
    more.textContent = 'Show the other ' + (found.length - most) + ' ' + noun + 's';
    status.textContent = (found.length === rows.length ? '' : found.length + ' of ') + rows.length + ' ' + noun + 's';
  };
  const grid = (form) => {
    const own = shownColumns();
    const found = seen();
    if (form === 'csv')
      return {
        heads: [...axes.map(({ name }) => name), ...own.flatMap(({ id }) => [id, id + '__lo', id + '__hi']), 'joules_are', 'verdict'],
        lines: found.map((row) => [
          ...row.axes,
          ...own.flatMap(({ at }) => {
            const value = figure(row, at);
            return [value?.v ?? '', value?.lo ?? '', value?.hi ?? ''];
          }),
          row.tiers.map(([word]) => word).join(' '),
          row.verdict,
        ]),
      };
    const unit = (text) => (unitText(text) === '' ? '' : ' (' + text + ')');
    return {
      heads: [...axes.map(({ title }) => title), ...own.map(({ title, unit: of }) => title + unit(of)), 'Joules are', 'Verdict'],
      lines: found.map((row) => [
        ...row.axes,
        ...own.map(({ at }) => {
          const value = figure(row, at);
          return value === null ? '–' : value.text + (value.below === null ? '' : ' (' + value.below + ')');
        }),
        row.tiers.map(([word]) => word).join(', '),
        row.verdict,
      ]),
    };
  };
  const csvField = (value) => {
    if (typeof value === 'number') return String(value);
    const text = /^[=+\\-@\\t\\r]/.test(value) ? "'" + value : value;
    return /[",\\n\\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };
  const markdownField = (text) => String(text).replaceAll('\\\\', '\\\\\\\\').replaceAll('|', '\\\\|');
  const latexSigns = { '\\\\': '\\\\textbackslash{}', '~': '\\\\textasciitilde{}', '^': '\\\\textasciicircum{}', '–': '--', '…': '\\\\ldots{}', 'µ': '\\\\textmu{}', '†': '\\\\dag{}' };
  const latexField = (text) => String(text).replace(/[\\\\~^–…µ†&%$#_{}]/g, (sign) => latexSigns[sign] ?? '\\\\' + sign);
  const forms = {
    csv: ({ heads, lines }) => [heads, ...lines].map((line) => line.map(csvField).join(',')),
    markdown: ({ heads, lines }) => {
      const line = (texts) => '| ' + texts.map(markdownField).join(' | ') + ' |';
      return [line(heads), '|' + heads.map(() => ' --- ').join('|') + '|', ...lines.map(line)];
    },
    latex: ({ heads, lines }) => {
      const line = (texts) => texts.map(latexField).join(' & ') + ' \\\\\\\\';
      const places = heads.map((_, i) => (i < axes.length || i >= heads.length - 2 ? 'l' : 'r')).join('');
      return ['\\\\begin{tabular}{' + places + '}', '\\\\hline', line(heads), '\\\\hline', ...lines.map(line), '\\\\hline', '\\\\end{tabular}'];
    },
  };
  for (const button of controls.querySelectorAll('[data-copy]'))
    button.addEventListener('click', async () => {
      const form = button.dataset.copy;
      const done = await copyText(forms[form](grid(form)).join('\\n') + '\\n', byId('results-copied'));
      status.textContent = done ? 'Copied as ' + button.textContent.replace('Copy ', '') + '; the text stands below the table’s controls too' : 'The text to copy stands in the field';
    });
  const select = (key, title, values) => {
    const options = [element('option', { value: '' }, 'all'), ...values.map((value) => element('option', { value }, value))];
    const box = element('select', { 'data-filter': key }, ...options);
    box.addEventListener('change', () => {
      picked.set(key, box.value);
      render();
    });
    return element('label', {}, title, box);
  };
  const mostChoices = 200;
  const filters = axes
    .map(({ name, title }, at) => [name, title, [...new Set(rows.map((row) => row.axes[at]))]])
    .filter(([, , values]) => values.length > 1 && values.length <= mostChoices);
  const verdicts = [...new Set(rows.map(({ verdict }) => verdict))];
  byId('results-filters').append(
    ...filters.map((own) => select(...own)),
    ...(verdicts.length > 1 ? [select('verdict', 'Verdict', verdicts)] : []),
  );
  byId('results-columns').querySelector('.picker').append(
    ...columns.map(({ id, title, unit }) => {
      const box = element('input', { type: 'checkbox', 'data-column': id });
      box.checked = shown.has(id);
      box.addEventListener('change', () => {
        if (box.checked) shown.add(id);
        else shown.delete(id);
        render();
      });
      return element('label', {}, box, element('span', {}, title + (unitText(unit) === '' ? '' : ' (' + unit + ')')));
    }),
  );
  const showAll = () => {
    most = rows.length;
    render();
  };
  more.addEventListener('click', showAll);
  if (rows.length > most) addEventListener('beforeprint', showAll);
  table.parentElement.after(more);
  search.addEventListener('input', render);
  front?.addEventListener('change', render);
  controls.hidden = false;
  byId('results-columns').hidden = false;
  render();
}
`;
