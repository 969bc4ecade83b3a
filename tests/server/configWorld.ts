import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OWN_PROGRAMS } from '../../configerator/compiler/walls';
import type { ServerDeps } from '../../server/deps';
import { ACCESS, appOf, TOKEN } from '../builders/serverWorld';
import { bench, type Bench } from '../configerator/repositories';

export const BEARER = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

export interface ConfigServer {
  readonly it: Bench;
  readonly app: ReturnType<typeof appOf>;
  get(path: string): Promise<{ readonly status: number; readonly body: never }>;
  propose(body: object, headers?: Record<string, string>): Promise<Proposal>;
}

export interface Proposal {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown> & { readonly error?: { readonly code: string; readonly message: string } };
}

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** A server with a real repository `flags`, which processes of its own work on. */
export async function configServer(
  over: Partial<ServerDeps> & Pick<Partial<ServerDeps['config']>, 'policy' | 'groups'> = {},
  repository: Partial<ServerDeps['config']['configRepositories'][number]> = {},
): Promise<ConfigServer> {
  const it = await bench();
  const copies = mkdtempSync(join(tmpdir(), 'conveyor-copies-'));
  folders.push(copies);
  const settings = { name: 'flags', git: it.origin, branch: 'main', etcd: null, ...repository };
  const app = appOf(undefined, {
    access: ACCESS,
    copies,
    configRepositories: [settings],
    programs: () => Promise.resolve(OWN_PROGRAMS),
    ...over,
  });
  return {
    ...{ it, app },
    get: async (path) => {
      const response = await app.request(path, { headers: BEARER });
      return { status: response.status, body: (await response.json()) as never };
    },
    propose: async (body, headers = BEARER) => {
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const response = await app.request('/v1/config/flags/changes', init);
      return { status: response.status, headers: response.headers, body: (await response.json()) as Proposal['body'] };
    },
  };
}
