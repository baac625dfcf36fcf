/** Markup that is safe to put into a page as it is. Made by `html` only. */
export interface Html {
  readonly markup: string;
}

type Part = string | number | Html | null | readonly Part[];

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The picture of a control character (`␛` for escape); a replacement character where it has none. */
const pictureOf = (sign: string): string => {
  const code = sign.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd';
};

/**
 * Text that shows all it holds: direction marks that could disguise it are taken out, control characters but tab and line
 * feed become their pictures.
 */
export const visibleText = (text: string): string =>
  text
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/\r\n/g, '\n')
    .replace(controls, pictureOf);

/** Visible text made harmless inside elements and quoted attributes. */
export const escapeHtml = (text: string): string =>
  visibleText(text).replace(/[&<>"']/g, (sign) => escapes[sign] ?? sign);

function markupOf(part: Part): string {
  if (part === null) return '';
  if (typeof part === 'string') return escapeHtml(part);
  if (typeof part === 'number') return String(part);
  if ('markup' in part) return part.markup;
  return part.map(markupOf).join('');
}

/** Markup from a template: what stands in it is trusted, every value put into it is escaped unless it is `Html`. */
export const html = (trusted: TemplateStringsArray, ...values: readonly Part[]): Html => ({
  markup: trusted.map((text, i) => (i === 0 ? text : `${markupOf(values[i - 1] ?? null)}${text}`)).join(''),
});

/** A value as JSON for a script element, its texts visible: nothing in it can end the element or begin a comment. */
export const scriptJson = (value: unknown): Html => ({
  markup: JSON.stringify(value, (_, own: unknown) => (typeof own === 'string' ? visibleText(own) : own))
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029'),
});

/** Script text that cannot end its own element, with the line ends an HTML parser would make of it. */
export const scriptText = (source: string): Html => ({
  markup: source
    .replace(/\r\n?/g, '\n')
    .replace(/<\/(script)/gi, '<\\/$1')
    .replaceAll('<!--', '<\\!--'),
});
