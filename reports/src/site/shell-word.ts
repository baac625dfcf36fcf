/** A text as one word of a POSIX shell: quoted where it needs to be, control characters taken out. */
export function shellWord(text: string): string {
  const printable = text.replace(/[\p{Cc}\p{Cf}]/gu, '');
  return /^[\w@%+=:,./-]+$/.test(printable) ? printable : `'${printable.replaceAll("'", `'\\''`)}'`;
}
