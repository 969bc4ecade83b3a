import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Me } from '../../client/http/client';
import type { PipelineStatus } from '../../domain/views';
import { startFront, type Front } from './front';
import type { Env, Running } from './process';
import { given, type Service } from './service';
import { Stack } from './stack';

let stack: Stack;
let front: Front;
let issuer: string;
let shop: Service;
beforeAll(async () => {
  stack = await Stack.open();
  const port = await freePort();
  issuer = `http://127.0.0.1:${port}`;
  // Tokens that are to be renewed at every command.
  const provider = stack.processes.node('tests/system/identityProvider.mjs', [String(port), '30'], stack.env);
  await provider.said(/ready/);
  const config = join(stack.home, 'conveyor.config.yaml');
  const more = {
    signIn: [{ issuer, client: 'conveyor-cli', scopes: ['openid', 'offline_access'], groups: 'groups' }],
    platform: { admins: ['user:carol'], pipelines: [{ names: ['shop-*'], creators: ['group:storage'] }] },
    reads: 'authenticated',
  };
  writeFileSync(config, stringify({ ...(parse(readFileSync(config, 'utf8')) as object), ...more, groups: {} }));
  front = await startFront(stack);
  shop = await given(stack, { pipeline: { owners: ['group:storage'] } });
});
afterEach(() => stack.checkInvariants());
afterAll(() => stack.close());

/** Somebody with a home of their own, who does not reach Temporal. */
const person = (name: string): Env => ({
  TEMPORAL_ADDRESS: '127.0.0.1:1',
  CONVEYOR_ACTOR: '',
  XDG_CONFIG_HOME: join(stack.home, name),
});

/** Goes through the provider's forms as a browser does, until it leads elsewhere, which is opened too. */
async function browse(start: string, login: string, typed: Record<string, string> = {}): Promise<string> {
  const cookies = new Map<string, string>();
  let [url, init]: [string, RequestInit] = [start, {}];
  for (let hop = 0; hop < 20; hop += 1) {
    const cookie = [...cookies].map(([key, value]) => `${key}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', ...init, headers: { ...init.headers, cookie } });
    for (const text of answer.headers.getSetCookie()) {
      const [, key = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      cookies.set(key, value);
    }
    const location = answer.headers.get('location');
    const html = await answer.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1];
    if (location !== null) [url, init] = [new URL(location, url).href, {}];
    else if (action !== undefined) {
      const hidden = [...html.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, key = '', value = '']) => [
        key,
        value,
      ]);
      const fields = { ...Object.fromEntries(hidden), login, password: 'x', ...typed } as Record<string, string>;
      url = new URL(action, url).href;
      init = { method: 'POST', body: new URLSearchParams(fields) };
    } else return html;
  }
  throw new Error(`no end of forms at ${url}`);
}

const login = (name: string, ...more: string[]): Running => stack.start(['login', front.url, ...more], person(name));

async function signsIn(name: string): Promise<string> {
  const running = login(name);
  const [, url = ''] = await running.complained(/sign in at (\S+)/);
  expect(await browse(url, name)).toContain('go back to the terminal');
  const { code, stdout } = await running.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining(`user:${name} at ${front.url}`)]);
  return stdout;
}

test('a browser signs somebody in, whose groups of the provider then decide what they may do', async () => {
  await signsIn('alice');
  expect(await stack.json<Me>(['whoami'], person('alice'))).toMatchObject({
    ...{ principal: 'user:alice', groups: ['group:storage'], door: 'oidc' },
    expiresAt: expect.any(String) as string,
  });
  const freeze = ['freeze', shop.name, '--reason', 'holidays'];
  expect((await stack.conveyor(freeze, person('alice'))).code).toBe(0);
  await signsIn('mallory');
  const { code, stderr } = await stack.conveyor(['unfreeze', shop.name, '--reason', 'mine'], person('mallory'));
  expect([code, stderr]).toEqual([4, expect.stringContaining('not-permitted')]);
  const { frozen } = await stack.json<PipelineStatus>(['status', shop.name], person('alice'));
  expect(frozen).toMatchObject({ actor: 'user:alice', reason: 'holidays' });
});

test('where there is no browser, a code that is typed elsewhere does', async () => {
  const running = login('alice', '--device');
  const [, url = '', code = ''] = await running.complained(/open (\S+) and enter (\S+)/);
  await browse(url, 'alice', { user_code: code });
  expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('user:alice') as string });
});

test('a token that ends is renewed by itself, until somebody logs out', async () => {
  await signsIn('alice');
  const file = join(stack.home, 'alice', 'conveyor', 'credentials.json');
  const kept = (): { token: string; renewal: { refreshToken: string } } =>
    JSON.parse(readFileSync(file, 'utf8')) as never;
  const first = kept();
  // It ends within the minute before which tokens are renewed.
  expect((await stack.conveyor(['whoami'], person('alice'))).code).toBe(0);
  expect(kept().token).not.toBe(first.token);
  const last = readFileSync(file);
  expect(await stack.conveyor(['logout'], person('alice'))).toMatchObject({ code: 0, stderr: '' });
  // Whoever kept a copy renews nothing with it.
  writeFileSync(file, last, { mode: 0o600 });
  expect(await stack.conveyor(['whoami'], person('alice'))).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('sign-in-failed') as string,
  });
});

test('commands that run at once renew one after another, since a provider takes everything back from who renews twice', async () => {
  await signsIn('alice');
  const commands = Array.from({ length: 4 }, () => stack.conveyor(['whoami'], person('alice')));
  expect((await Promise.all(commands)).map(({ code, stderr }) => [code, stderr])).toEqual(Array(4).fill([0, '']));
  expect((await stack.conveyor(['whoami'], person('alice'))).code).toBe(0);
});

test('without a token nobody looks, and whoever only wants to sign in is shown where', async () => {
  expect((await fetch(`${front.url}/v1/pipelines`)).status).toBe(401);
  expect(await (await fetch(`${front.url}/v1/sign-in`)).json()).toEqual([
    { issuer, client: 'conveyor-cli', scopes: ['openid', 'offline_access'] },
  ]);
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
