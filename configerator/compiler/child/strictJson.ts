const BYTE_ORDER_MARK = '\uFEFF';

/** The strings, numbers and punctuation of a text that is known to be JSON; its other words need no check. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[-+.\deE]*|[{}[\],:]/g;

/**
 * `JSON.parse` without two silent errors: it keeps the last value of a duplicate key, and turns a number above 1.8e308 into infinity. Linear in
 * the length of the text, unlike YAML's check of keys, since servers read it without a separate process.
 *
 * @throws Error with the line and the column, and for a byte order mark with its name
 */
export function parseStrictJson(text: string): unknown {
  if (text.startsWith(BYTE_ORDER_MARK))
    throw new Error(
      'it begins with a byte order mark (U+FEFF), which JSON does not have; save it as UTF-8 without one',
    );
  const value: unknown = JSON.parse(text);
  const found = findSilent(text);
  if (found === undefined) return value;
  const before = text.slice(0, found.at).split('\n');
  throw new Error(`line ${before.length}, column ${(before.at(-1) ?? '').length + 1}: ${found.why}`);
}

function findSilent(text: string): { readonly at: number; readonly why: string } | undefined {
  /** The keys so far of each open object; null for an array. */
  const open: (Set<string> | null)[] = [];
  let isKeyNext = false;
  for (const { 0: token, index: at } of text.matchAll(TOKEN)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"')) {
      const keys = isKeyNext ? open.at(-1) : undefined;
      const key = keys ? (JSON.parse(token) as string) : '';
      if (keys?.has(key)) return { at, why: `the key ${quote(key)} comes twice in this object` };
      keys?.add(key);
    } else if (token !== ',' && token !== ':' && !Number.isFinite(Number(token)))
      return { at, why: `${shorten(token)} is too large for a number` };
    isKeyNext = token === '{' || (token === ',' && open.at(-1) !== null);
  }
  return undefined;
}

const quote = (key: string): string => JSON.stringify(shorten(key));
const shorten = (text: string): string => (text.length > 60 ? `${text.slice(0, 59)}…` : text);
