import { join } from 'node:path';
import type { Front } from './front';
import type { Ended, Env, Running } from './process';
import type { Stack } from './stack';

/** People of tests/system/identityProvider.mjs, who reach the server but not Temporal. */
export class People {
  constructor(
    private readonly stack: Stack,
    private readonly front: Front,
  ) {}

  /** A user with a separate home. */
  env(name: string): Env {
    return { TEMPORAL_ADDRESS: '127.0.0.1:1', CONVEYOR_ACTOR: '', XDG_CONFIG_HOME: join(this.stack.home, name) };
  }

  login(name: string, ...more: string[]): Running {
    return this.stack.start(['login', this.front.url, ...more], this.env(name));
  }

  async signsIn(name: string): Promise<void> {
    const running = this.login(name);
    const [, url = ''] = await running.complained(/sign in at (\S+)/);
    expect(await browse(url, name)).toContain('go back to the terminal');
    const { code, stdout } = await running.ended;
    expect([code, stdout]).toEqual([0, expect.stringContaining(`user:${name} at ${this.front.url}`)]);
  }

  types(name: string, ...args: string[]): Promise<Ended> {
    return this.stack.conveyor(args, this.env(name));
  }

  /** The output of a command that must succeed. */
  async works(name: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.types(name, ...args);
    expect([args.join(' '), code, stderr]).toEqual([args.join(' '), 0, expect.any(String)]);
    return stdout;
  }
}

/** Goes through the provider's forms as a browser does, until it leads elsewhere, and opens that address, too. */
export async function browse(start: string, login: string, typed: Record<string, string> = {}): Promise<string> {
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
