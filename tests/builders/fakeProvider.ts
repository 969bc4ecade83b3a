import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

type Key = Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];

interface Grant {
  readonly person: string;
  readonly nonce?: string;
  readonly challenge?: string;
  readonly redirectUri?: string;
}

export const CLIENT_SECRET = 'the secret of the pages';

/** An identity provider in this process, which can be away, slow, or lie. Each code and each refresh token is good once. */
export class FakeProvider {
  readonly groups = new Map<string, readonly string[]>();
  /** People whom it no longer knows. */
  readonly left = new Set<string>();
  mode: 'honest' | 'away' | 'silent' = 'honest';
  /** Claims with which ID tokens lie. */
  lies: JWTPayload = {};
  withRefreshTokens = true;
  readonly revoked: string[] = [];
  /** Requests by path. */
  readonly asked = new Map<string, number>();
  private readonly grants = new Map<string, Grant>();
  private count = 0;

  private constructor(
    private readonly server: Server,
    private readonly key: Key,
    private readonly jwk: object,
    readonly issuer: string,
    private readonly now: () => number,
  ) {}

  static async open(now: () => number): Promise<FakeProvider> {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' };
    const provider = new FakeProvider(server, privateKey, jwk, issuer, now);
    server.on('request', (request, response) => void provider.answer(request, response));
    return provider;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  /** The person signs in at the address to which the server led: the address to which the provider leads back. */
  authorize(url: string, person: string): string {
    const { searchParams: asked } = new URL(url);
    const text = (name: string): string => asked.get(name) ?? '';
    expect([text('response_type'), text('code_challenge_method')]).toEqual(['code', 'S256']);
    const code = this.grant({
      ...{ person, nonce: text('nonce'), challenge: text('code_challenge'), redirectUri: text('redirect_uri') },
    });
    return `${text('redirect_uri')}?${String(new URLSearchParams({ code, state: text('state') }))}`;
  }

  private grant(grant: Grant): string {
    const code = `grant-${(this.count += 1)}`;
    this.grants.set(code, grant);
    return code;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', this.issuer);
    this.asked.set(pathname, (this.asked.get(pathname) ?? 0) + 1);
    if (this.mode === 'silent') return;
    const [status, body] = this.mode === 'away' ? [503, {}] : await this.reply(pathname, request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  private async reply(path: string, request: IncomingMessage): Promise<[number, object]> {
    const { issuer } = this;
    if (path === '/.well-known/openid-configuration')
      return [
        200,
        {
          ...{ issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: `${issuer}/auth` },
          ...{ token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/revoke` },
          id_token_signing_alg_values_supported: ['ES256'],
        },
      ];
    if (path === '/keys') return [200, { keys: [this.jwk] }];
    const form = new URLSearchParams(await bodyOf(request));
    if (path === '/revoke') return (this.revoked.push(form.get('token') ?? ''), [200, {}]);
    return this.token(form, request.headers.authorization ?? '');
  }

  private async token(form: URLSearchParams, authorization: string): Promise<[number, object]> {
    const [client, secret] = Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
      .toString()
      .split(':');
    if (decodeURIComponent(`${secret}`.replaceAll('+', ' ')) !== CLIENT_SECRET)
      return [401, { error: 'invalid_client' }];
    const name = form.get('code') ?? form.get('refresh_token') ?? '';
    const grant = this.grants.get(name);
    this.grants.delete(name);
    const isMade = form.get('redirect_uri') === (grant?.redirectUri ?? null) && this.fitsPkce(form, grant);
    if (grant === undefined || !isMade || this.left.has(grant.person)) return [400, { error: 'invalid_grant' }];
    return [
      200,
      {
        ...{ access_token: 'unused', token_type: 'Bearer', expires_in: 300 },
        id_token: await this.idToken(grant, client ?? ''),
        ...(this.withRefreshTokens ? { refresh_token: this.grant({ person: grant.person }) } : {}),
      },
    ];
  }

  private fitsPkce(form: URLSearchParams, grant: Grant | undefined): boolean {
    const verifier = form.get('code_verifier');
    if (grant?.challenge === undefined) return verifier === null;
    return (
      createHash('sha256')
        .update(verifier ?? '')
        .digest('base64url') === grant.challenge
    );
  }

  private idToken({ person, nonce }: Grant, client: string): Promise<string> {
    const nowS = Math.floor(this.now() / 1_000);
    const claims = { iss: this.issuer, aud: client, sub: person, iat: nowS, exp: nowS + 3_600 };
    const about = { groups: this.groups.get(person) ?? [], ...(nonce === undefined ? {} : { nonce }) };
    return new SignJWT({ ...claims, ...about, ...this.lies })
      .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
      .sign(this.key);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
