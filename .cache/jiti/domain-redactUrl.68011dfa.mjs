"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.redactUrl = redactUrl;exports.withShownUrls = void 0;const VARIABLE = /^(\$\{\w+\})(.*)$/s;

/**
 * An address without its possible secrets, for errors, logs and pages. The path of an incoming webhook may be a secret;
 * so may the user name, password and query of any address. A leading variable stays, because it is only a name.
 */
function redactUrl(url) {
  const [, variable, rest = ''] = VARIABLE.exec(url) ?? [];
  if (variable !== undefined) return rest === '' ? variable : `${variable}/…`;
  if (!URL.canParse(url)) return 'an invalid address';
  const { protocol, host, pathname, search } = new URL(url);
  return `${protocol}${host === '' ? '' : `//${host}`}${/^\/?$/.test(pathname) && search === '' ? '' : '/…'}`;
}

/** A text from elsewhere, such as the error of a library, with the possible secrets removed from its addresses. */
const withShownUrls = (text) => text.replace(/https?:\/\/[^\s"'<>]+/gi, redactUrl);exports.withShownUrls = withShownUrls; /* v9-3c77d143c7b01d62 */
