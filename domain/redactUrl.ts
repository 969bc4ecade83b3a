const VARIABLE = /^(\$\{\w+\})(.*)$/s;

/**
 * An address without its possible secrets, for errors, logs and pages. The path of an incoming webhook may be a secret;
 * so may the user name, password and query of any address. A leading variable stays, because it is only a name.
 */
export function redactUrl(url: string): string {
  const [, variable, rest = ''] = VARIABLE.exec(url) ?? [];
  if (variable !== undefined) return rest === '' ? variable : `${variable}/…`;
  if (!URL.canParse(url)) return 'an invalid address';
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}${host === '' ? '' : `//${host}`}${/^\/?$/.test(pathname) && search === '' ? '' : '/…'}`;
}

/** A text from elsewhere, such as the error of a library, with the possible secrets removed from its addresses. */
export const withShownUrls = (text: string): string => text.replace(/https?:\/\/[^\s"'<>]+/gi, redactUrl);
