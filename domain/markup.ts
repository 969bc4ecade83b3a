/** A text for SVG and HTML, in an element or a quoted attribute. Control characters are dropped: XML 1.0 has none. */
export const escapeXml = (content: string): string =>
  content.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? '').replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, '');

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
