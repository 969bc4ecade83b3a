import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import type { ConveyorError } from '../../domain/errors';
import { Identities } from '../../server/identity';
import { parseRegistry } from '../../settings/registry';

type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

const NOW = 1_800_000_000;
/** An identity provider: its keys, by id, and whether it answers. */
const keys = new Map<string, Key>();
let published: object[] = [];
let away = false;
let server: Server;
let issuer: string;
let asked = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    response.statusCode = away ? 503 : 200;
    response.setHeader('content-type', 'application/json');
    const document = request.url?.startsWith('/.well-known')
      ? { issuer, jwks_uri: `${issuer}/keys` }
      : { keys: published };
    response.end(JSON.stringify(document));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await publish('k1');
});
afterEach(() => {
  away = false;
  asked = 0;
});
afterAll(() => server.close());

async function publish(kid: string): Promise<void> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  keys.set(kid, privateKey);
  published = [...published, { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' }];
}

const ALICE = { sub: 'alice', email: 'alice@example.com', email_verified: true, groups: ['storage'] };
const token = (claims: JWTPayload = {}, kid = 'k1'): Promise<string> =>
  new SignJWT({ iss: issuer, aud: 'conveyor', exp: NOW + 300, iat: NOW, ...ALICE, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid })
    .sign(keys.get(kid) as Key);

const issuersOf = (...given: object[]) =>
  parseRegistry({ signIn: given.map((each) => ({ issuer, audience: 'conveyor', ...each })) }, {}).issuers;

const identities = (...more: object[]) => {
  const issuers = issuersOf(...(more.length > 0 ? more : [{}]));
  return new Identities(
    () => issuers,
    () => NOW * 1_000,
  );
};

test('a provider that is removed from the configuration signs no one in any more, and a new one does at once', async () => {
  let issuers = issuersOf();
  const live = new Identities(
    () => issuers,
    () => NOW * 1_000,
  );
  await expect(live.identify(await token())).rejects.toMatchObject({ code: 'unauthorized' });
  issuers = issuersOf({});
  expect(await live.identify(await token())).toMatchObject({ principal: 'user:alice' });
  issuers = issuersOf();
  await expect(live.identify(await token())).rejects.toMatchObject({ code: 'unauthorized' });
});

test('who brings a token that the provider has signed is who it says, in the groups that it says, for as long as it says', async () => {
  expect(await identities({ groups: 'groups' }).identify(await token())).toEqual({
    principal: 'user:alice',
    groups: ['storage'],
    expiresAtMs: (NOW + 300) * 1_000,
    door: 'oidc',
  });
  expect(await identities({ principal: 'user:{email}' }).identify(await token())).toMatchObject({
    principal: 'user:alice@example.com',
    groups: [],
  });
});

test('a job of a forge is the service for which its repository and branch are listed, and no other', async () => {
  const of = (name: string) => ({
    principal: `service:${name}-ci`,
    only: { repository: `acme/${name}`, ref: 'refs/heads/*' },
  });
  const both = identities(of('shop'), of('bank'));
  const job = (repository: string, ref = 'refs/heads/main') => token({ repository, ref });
  expect(await both.identify(await job('acme/shop'))).toMatchObject({ principal: 'service:shop-ci' });
  expect(await both.identify(await job('acme/bank'))).toMatchObject({ principal: 'service:bank-ci' });
  await expect(both.identify(await job('attacker/acme/shop'))).rejects.toThrow('its repository is not acme/shop');
  await expect(both.identify(await job('acme/shop', 'refs/pull/7'))).rejects.toThrow('its ref is not refs/heads/*');
});

test('a person whose token has expired reads how to sign in again, and others do not', async () => {
  const hintOf = async (claims: JWTPayload): Promise<string> =>
    identities()
      .identify(await token(claims))
      .then(
        () => 'it is known',
        (error: ConveyorError) => error.hint,
      );
  expect(await hintOf({ exp: NOW - 61 })).toMatch(/^conveyor login URL signs you in again/);
  expect(await hintOf({ nbf: NOW + 61 })).toMatch(/conveyor\.config\.yaml/);
});

describe('a token identifies no caller', () => {
  test.each<[string, () => Promise<string>, string]>([
    ['that has expired', () => token({ exp: NOW - 61 }), 'the token has expired'],
    ['that is not good yet', () => token({ nbf: NOW + 61 }), 'nbf'],
    ['for somebody else', () => token({ aud: 'payroll' }), 'aud'],
    ['of another provider', () => token({ iss: 'https://evil.example.com' }), 'no identity provider'],
    ['without an end', () => token({ exp: undefined }), 'exp'],
    [
      'that nobody signed',
      async () => new UnsecuredJWT({ iss: issuer, aud: 'conveyor', exp: NOW + 300, ...ALICE }).encode(),
      'valid',
    ],
    [
      'that was signed by the public key as if it were a secret',
      () =>
        new SignJWT({ iss: issuer, aud: 'conveyor', exp: NOW + 300, ...ALICE })
          .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
          .sign(Buffer.from(JSON.stringify(published[0]))),
      'valid',
    ],
    [
      'of which a claim was changed',
      async () =>
        (await token()).replace(
          /\.[^.]+\./,
          `.${Buffer.from(JSON.stringify({ iss: issuer, aud: 'conveyor', exp: NOW + 300, sub: 'bob' })).toString('base64url')}.`,
        ),
      'valid',
    ],
    ['whose name is none', () => token({ sub: 'alice;drop' }), 'user:{sub}'],
  ])('%s', async (_, made, why) => {
    await expect(identities().identify(await made())).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining(why) as string,
    });
  });

  test.each([false, 'false', 'true', 0, 1, null, undefined])(
    'an address whose email_verified is %p: it has to be true',
    async (email_verified) =>
      expect(identities({ principal: 'user:{email}' }).identify(await token({ email_verified }))).rejects.toThrow(
        'not verified',
      ),
  );

  test('that is none: it may be one of the configuration', async () =>
    expect(await identities().identify('a-token-of-the-configuration')).toBeUndefined());
});

test('clocks may differ by a minute', async () => {
  expect(await identities().identify(await token({ exp: NOW - 59, nbf: NOW + 59 }))).toMatchObject({
    principal: 'user:alice',
  });
});

test('a provider that is away locks out no caller whose key is known; the answer names one that was never reached', async () => {
  const known = identities();
  await known.identify(await token());
  away = true;
  expect(await known.identify(await token())).toMatchObject({ principal: 'user:alice' });
  await expect(identities().identify(await token())).rejects.toMatchObject({
    code: 'identity-unreachable',
    retryable: true,
  });
});

test('a provider that comes back is asked again', async () => {
  const first = identities();
  away = true;
  await expect(first.identify(await token())).rejects.toMatchObject({ code: 'identity-unreachable' });
  away = false;
  expect(await first.identify(await token())).toMatchObject({ principal: 'user:alice' });
});

test('a key that the provider has made since is found, and however many tokens come it is asked once', async () => {
  const known = identities();
  const all = await Promise.all(Array.from({ length: 50 }, async () => known.identify(await token())));
  expect(all).toHaveLength(50);
  expect(asked).toBe(2);
});

test.each([
  ['an address that is none', { issuer: 'id.example.com', audience: 'x' }, 'signIn.0.issuer: Invalid URL'],
  ['http to another machine', { issuer: 'http://id.example.com', audience: 'x' }, 'https'],
  [
    'groups that act',
    { issuer: 'https://id.example.com', audience: 'x', principal: 'group:{sub}' },
    'groups never act',
  ],
  ['tokens for anybody', { issuer: 'https://id.example.com' }, 'audience or client'],
  [
    'one name for whoever comes',
    { issuer: 'https://id.example.com', audience: 'x', principal: 'service:ci' },
    'required claims',
  ],
])('a configuration with %s is refused', (_, signIn, why) =>
  expect(() => parseRegistry({ signIn: [signIn] }, {})).toThrow(why),
);
