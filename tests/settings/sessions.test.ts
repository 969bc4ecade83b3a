import { parseRegistry } from '../../settings/registry';
import { linkEnvironment, readLinkSignIn } from '../../settings/signInLink';

const SECRET = 'a secret of sessions, long enough';
const sessions = (value: object, env: Record<string, string> = {}) => parseRegistry({ sessions: value }, env).sessions;

test('sessions have the address of the pages, and secrets of which the first that is set encrypts', () => {
  const given = { url: 'https://conveyor.example.com/', secretEnv: ['NEW', 'OLD'] };
  expect(sessions(given, { NEW: SECRET, OLD: `old ${SECRET}` })).toEqual({
    ...{ url: 'https://conveyor.example.com', secrets: [SECRET, `old ${SECRET}`], unset: [] },
  });
  expect(sessions(given)).toMatchObject({ secrets: [], unset: ['NEW', 'OLD'] });
  expect(sessions({})).toEqual({ url: null, secrets: [], unset: [] });
});

test.each<[string, object, RegExp]>([
  ['of another machine over http', { url: 'http://conveyor.example.com' }, /expected an https URL/],
  ['with a path', { url: 'https://example.com/conveyor' }, /without a path/],
  ['with a user', { url: 'https://alice@example.com' }, /without a path/],
  ['that is none', { url: 'conveyor' }, /expected a URL/],
])('an address %s is refused', (_what, value, why) => expect(() => sessions(value)).toThrow(why));

test('a secret that others guess is refused', () =>
  expect(() => sessions({ secretEnv: 'SHORT' }, { SHORT: 'x' })).toThrow(/SHORT holds 1 bytes/));

test('a provider may have a client of pages, whose tokens no request may bring', () => {
  const signIn = [{ issuer: 'https://id.example.com', pages: { client: 'conveyor', secretEnv: 'OIDC' } }];
  expect(parseRegistry({ signIn }, { OIDC: 'x' }).issuers).toMatchObject([
    { audience: null, client: null, pages: { client: 'conveyor', scopes: ['openid'], secret: 'x', unset: [] } },
  ]);
  expect(parseRegistry({ signIn }, {}).issuers).toMatchObject([{ pages: { secret: null, unset: ['OIDC'] } }]);
});

test('only the server of a development stack signs its user in by links', () => {
  expect(readLinkSignIn(linkEnvironment({ secret: SECRET, principal: 'user:alice' }))).toEqual({
    ...{ secret: SECRET, principal: 'user:alice' },
  });
  expect(readLinkSignIn({})).toBeUndefined();
  expect(readLinkSignIn(linkEnvironment({ secret: SECRET, principal: 'group:storage' }))).toBeUndefined();
});
