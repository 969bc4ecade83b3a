import { whyForeignForm, whyNotFollowed } from '../../../domain/sessions/ownForm';

const OWN = 'https://conveyor.example.com';

test.each([
  { origin: OWN, site: 'same-origin' },
  { origin: OWN, site: undefined },
  { origin: undefined, site: 'same-origin' },
])('a form of our own page is accepted: %j', (source) => expect(whyForeignForm(source, OWN)).toBeUndefined());

test.each([
  [{ origin: undefined, site: undefined }, 'it does not say from which page it comes'],
  [{ origin: 'null', site: undefined }, 'it hides from which page it comes'],
  [{ origin: 'null', site: 'same-origin' }, 'it hides from which page it comes'],
  [{ origin: 'https://evil.example', site: undefined }, 'it comes from a page of https://evil.example'],
  [{ origin: `${OWN}.evil.example`, site: undefined }, `it comes from a page of ${OWN}.evil.example`],
  [{ origin: `${OWN}:8443`, site: 'same-site' }, 'it comes from a page of another site'],
  [{ origin: OWN, site: 'cross-site' }, 'it comes from a page of another site'],
  [{ origin: undefined, site: 'none' }, 'it comes from a page of another site'],
])('any other is refused: %j', (source, why) => expect(whyForeignForm(source, OWN)).toBe(why));

test.each<[string | undefined, string | undefined, string | undefined]>([
  [undefined, undefined, undefined],
  ['none', undefined, undefined],
  ['same-origin', undefined, undefined],
  ['same-site', undefined, 'a page of another site leads here'],
  ['cross-site', undefined, 'a page of another site leads here'],
  ['none', 'prefetch', 'the browser fetches it in advance'],
])('a link is followed by a person alone: from %s, for %s', (site, purpose, why) =>
  expect(whyNotFollowed(site, purpose)).toBe(why),
);
