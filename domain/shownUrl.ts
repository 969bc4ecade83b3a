const VARIABLE = /^(\$\{\w+\})(.*)$/s;

/**
 * An address as it may stand in errors, logs and on pages: where it is, and nothing that may be a secret. Of incoming webhooks that is
 * the path, of others a name with a password or the query. A variable that it begins with stays, since that is a name.
 */
export function shownUrl(url: string): string {
  const [, variable, rest = ''] = VARIABLE.exec(url) ?? [];
  if (variable !== undefined) return rest === '' ? variable : `${variable}/…`;
  if (!URL.canParse(url)) return 'what is not an address';
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}${host === '' ? '' : `//${host}`}${/^\/?$/.test(pathname) && search === '' ? '' : '/…'}`;
}

/** A text from elsewhere, such as the error of a library, with each address in it as it may be shown. */
export const withShownUrls = (text: string): string => text.replace(/https?:\/\/[^\s"'<>]+/gi, shownUrl);
