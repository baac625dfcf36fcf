import { expect, test } from 'vitest';
import { escapeHtml, html, scriptJson, scriptText } from './html.js';

const evil = `<img src=x onerror="alert('1')">&`;

test('values are escaped, markup made by the template is not escaped twice', () => {
  const inner = html`<b>${evil}</b>`;
  expect(html`<p title="${evil}">${inner}${[1, 'a&b', null]}</p>`.markup).toBe(
    `<p title="${escapeHtml(evil)}"><b>${escapeHtml(evil)}</b>1a&amp;b</p>`,
  );
  expect(escapeHtml(evil)).toBe('&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;');
});

test('marks that turn the direction of text around are taken out', () => {
  expect(escapeHtml('safe\u202egpj.exe')).toBe('safegpj.exe');
});

test('JSON in a script holds nothing that could end it, and reads back the same', () => {
  const value = { text: '</script><!-- \u2028 \u2029' };
  const { markup } = scriptJson(value);
  expect(markup).not.toMatch(/[<\u2028\u2029]/);
  expect(JSON.parse(markup)).toEqual(value);
});

test('script text cannot end its own element', () => {
  expect(scriptText('a("</SCRIPT>");\r\nb("<!--")').markup).toBe('a("<\\/SCRIPT>");\nb("<\\!--")');
});
