/** The headers with which a browser says where a request comes from. */
interface RequestSource {
  /** `Origin`; undefined if missing. */
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`; undefined if missing. */
  readonly site: string | undefined;
}

/**
 * Why a form may not come from a page of this server; undefined if it does. Every browser sends at least one of the two
 * headers with a form, and neither can be forged by a page.
 */
export function whyForeignForm({ origin, site }: RequestSource, own: string): string | undefined {
  if (origin === undefined && site === undefined) return 'it does not say from which page it comes';
  if (site !== undefined && site !== 'same-origin') return 'it comes from a page of another site';
  if (origin === undefined || origin === own) return undefined;
  return origin === 'null' ? 'it hides from which page it comes' : `it comes from a page of ${origin}`;
}

/**
 * Why a link may not be followed by a person at this machine; undefined if it may. A page elsewhere may contain the
 * link, and browsers fetch some links in advance.
 */
export function whyNotFollowed(site: string | undefined, purpose: string | undefined): string | undefined {
  if (purpose !== undefined) return 'the browser fetches it in advance';
  const isOwn = site === undefined || site === 'none' || site === 'same-origin';
  return isOwn ? undefined : 'a page of another site leads here';
}
