import { serverFetch } from '../../cli/serverFetch';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toHttpOptions } from '../../cli/door';
import { writeCredentials, type Credentials } from '../../cli/login/credentials';

const NOW = 1_800_000_000_000;
const server = 'http://localhost:4500';
// No process listens there: a request to this provider is refused at once.
const renewal = { issuer: 'http://127.0.0.1:1', client: 'conveyor-cli', refreshToken: 'once' };
const kept = (token: string, endsInMs: number): Credentials => ({
  server,
  token,
  expiresAtMs: NOW + endsInMs,
  renewal,
});

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'conveyor-renewal-'))));
afterEach(() => rmSync(home, { recursive: true }));

/** The token of a command that read the file when it began. */
function tokenOf(credentials: Credentials): Promise<string> {
  const io = { env: { XDG_CONFIG_HOME: home }, now: () => NOW, askServer: serverFetch, sleep: () => Promise.resolve() };
  const { token } = toHttpOptions(io, { url: server, token: credentials.token, kept: credentials });
  return typeof token === 'function' ? token() : Promise.reject(new Error('it is not renewed'));
}
const keep = (credentials: Credentials) => writeCredentials({ XDG_CONFIG_HOME: home }, credentials);

test('a command that continues takes the token that another command has renewed, since what renews is good once', async () => {
  keep(kept('new', 3_600_000));
  expect(await tokenOf(kept('old', -1))).toBe('new');
});

test('while the provider is away a token is used until it expires, and after that a new sign-in is needed', async () => {
  keep(kept('ends', 30_000));
  expect(await tokenOf(kept('ends', 30_000))).toBe('ends');
  keep(kept('ended', -1));
  await expect(tokenOf(kept('ended', -1))).rejects.toMatchObject({ code: 'sign-in-failed' });
});

test('no new token is requested while the present one is good for long', async () => {
  keep(kept('good', 3_600_000));
  expect(await tokenOf(kept('good', 3_600_000))).toBe('good');
});
