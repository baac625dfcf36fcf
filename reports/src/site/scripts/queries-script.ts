/** The queries of a cell: filtered by verdict and by what stands in them. */
export const queriesScript = `
const queryBox = byId('queries-controls');
if (queryBox !== null) {
  const all = [...document.querySelectorAll('details.query')];
  const search = byId('queries-search');
  const verdict = byId('queries-verdict');
  const status = byId('queries-status');
  const show = () => {
    const word = search.value.toLowerCase();
    let count = 0;
    for (const query of all) {
      query.hidden = !((verdict.value === '' || query.dataset.verdict === verdict.value) && query.textContent.toLowerCase().includes(word));
      if (!query.hidden) count += 1;
    }
    status.textContent = count === all.length ? all.length + ' queries' : count + ' of ' + all.length + ' queries';
  };
  search.addEventListener('input', show);
  verdict.addEventListener('change', show);
  byId('queries-open').addEventListener('click', () => {
    const open = all.some((query) => !query.hidden && !query.open);
    for (const query of all) if (!query.hidden) query.open = open;
  });
  queryBox.hidden = false;
  show();
}
`;
