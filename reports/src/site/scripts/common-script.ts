/** What the other scripts of a page share, and the reader's choice of colours. */
export const commonScript = `
const root = document.documentElement;
const byId = (id) => document.getElementById(id);
const dataOf = (id) => {
  const block = byId(id);
  return block === null ? null : JSON.parse(block.textContent);
};
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const narrow = matchMedia('(max-width: 640px)');
const shownChanged = new EventTarget();
const isDark = () =>
  root.dataset.theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : root.dataset.theme === 'dark';
const kept = {
  get: () => { try { return localStorage.getItem('perwatt-theme'); } catch { return null; } },
  set: (value) => { try { localStorage.setItem('perwatt-theme', value); } catch { /* a page may have no storage */ } },
};
const themeSwitch = document.querySelector('[data-theme-switch]');
const showTheme = () => themeSwitch?.setAttribute('aria-pressed', String(isDark()));
const wanted = kept.get();
if (wanted === 'dark' || wanted === 'light') root.dataset.theme = wanted;
showTheme();
themeSwitch?.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  kept.set(root.dataset.theme);
  showTheme();
  shownChanged.dispatchEvent(new Event('change'));
});
for (const query of ['(prefers-color-scheme: dark)', '(max-width: 640px)'])
  matchMedia(query).addEventListener('change', () => {
    showTheme();
    shownChanged.dispatchEvent(new Event('change'));
  });
const copyText = async (text, box) => {
  if (box !== null) {
    box.value = text;
    box.hidden = false;
  }
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    if (box === null) return false;
    box.select();
    return document.execCommand('copy');
  }
};
for (const button of document.querySelectorAll('[data-copy-of]'))
  button.addEventListener('click', async () => {
    const text = byId(button.dataset.copyOf)?.textContent ?? '';
    const box = element('textarea', { class: 'copied', readonly: '', 'aria-label': 'Copied text' });
    button.after(box);
    const done = await copyText(text, box);
    box.remove();
    button.textContent = done ? 'Copied' : 'Not copied';
  });
const closed = [];
addEventListener('beforeprint', () => {
  for (const part of document.querySelectorAll('details:not([open]):not(.query):not(.no-print)')) {
    part.open = true;
    closed.push(part);
  }
});
addEventListener('afterprint', () => {
  for (const part of closed.splice(0)) part.open = false;
});
const follow = (address) => {
  if (/^cells\\/[\\w.-]+\\.html$/.test(address)) location.href = root.dataset.root + address;
};
`;
