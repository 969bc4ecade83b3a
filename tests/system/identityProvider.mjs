// An identity provider for system tests: oidc-provider, with the forms of its development mode. A third argument is the address to which it sends people back to
// pages, whose client is `conveyor-pages`.
import Provider from 'oidc-provider';

const GROUPS = { alice: ['storage'], bob: ['sre'], mallory: [] };
const port = Number(process.argv[2]);
const lifetime = Number(process.argv[3] ?? 3600);
const callback = process.argv[4];

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: 'conveyor-cli',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    },
    ...(callback === undefined
      ? []
      : [
          {
            client_id: 'conveyor-pages',
            client_secret: 'a client secret of the system tests',
            redirect_uris: [callback],
            response_types: ['code'],
            grant_types: ['authorization_code', 'refresh_token'],
          },
        ]),
  ],
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, groups: GROUPS[id] ?? [] }) }),
  claims: { openid: ['sub', 'groups'] },
  conformIdTokenClaims: false,
  features: {
    devInteractions: { enabled: true },
    deviceFlow: { enabled: true },
    revocation: { enabled: true },
    rpInitiatedLogout: { enabled: true },
  },
  pkce: { required: () => true },
  cookies: { keys: ['of the tests'] },
  ttl: {
    IdToken: lifetime,
    AccessToken: lifetime,
    RefreshToken: 86_400,
    Session: 3600,
    Grant: 86_400,
    Interaction: 600,
    DeviceCode: 600,
  },
  rotateRefreshToken: true,
});
provider.listen(port, '127.0.0.1', () => console.log(`ready on ${port}`));
