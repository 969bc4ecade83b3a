const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** A formatter of times. Those of a named zone are kept, because making one takes longer than using it a hundred times. */
export function getDateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  if (options.timeZone === undefined) return new Intl.DateTimeFormat('en-GB', options);
  const key = JSON.stringify(options);
  const known = FORMATS.get(key) ?? new Intl.DateTimeFormat('en-GB', options);
  FORMATS.set(key, known);
  return known;
}
