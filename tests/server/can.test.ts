import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { conveyorError } from '../../domain/errors';
import { parseRegistry } from '../../settings/registry';
import { CONFIG } from '../builders/accessWorld';
import { run } from '../builders/cliWorld';
import { specOf } from '../builders/pipelineWorld';
import { ACCESS, appOf, FakePipelines, TOKEN } from '../builders/serverWorld';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-can-'));
afterAll(() => rmSync(folder, { recursive: true }));
const config = join(folder, 'conveyor.config.yaml');
// The caller has made themselves an admin, on their own machine.
writeFileSync(config, stringify({ platform: { admins: ['user:eve'] } }));
const file = join(folder, 'pipeline.yaml');
writeFileSync(
  file,
  `pipeline: storage-new
owners: [user:alice]
artifacts: { executable: { finder: manual } }
actions:
  deploy: { type: deploy, inputs: [executable], with: { pushType: twine } }
`,
);
const URL = 'http://localhost:4500';

const { policy, groups } = parseRegistry(CONFIG, {});
const unknown = (pipeline: string) => Promise.reject(conveyorError('unknown-pipeline', { pipeline }));
const client = {
  ...new FakePipelines().client,
  spec: (pipeline: string) =>
    pipeline === 'kvstore' ? Promise.resolve(specOf(['deploy'], { owners: ['user:mallory'] })) : unknown(pipeline),
  exportPipeline: unknown,
};
const ALICE = 'the-token-of-alice';
const identities = {
  identify: (token: string) =>
    Promise.resolve(
      token === ALICE
        ? { principal: 'user:wendy', groups: ['storage'], expiresAtMs: null, door: 'oidc' as const }
        : undefined,
    ),
  confirm: () => Promise.resolve('no page is asked for'),
};

function asking(words: string, { token = TOKEN as string | null, env = {} } = {}) {
  const app = appOf(undefined, { client, identities, access: ACCESS, policy, groups });
  const fetch = ((url: string, init: RequestInit) => app.request(url, init)) as typeof globalThis.fetch;
  const given = { CONVEYOR_SERVER: URL, CONVEYOR_CONFIG: config, XDG_CONFIG_HOME: folder, ...env };
  return run(words.split(' '), {
    ...{ fetch, client },
    env: { ...given, ...(token === null ? {} : { CONVEYOR_TOKEN: token }) },
  });
}

test.each([
  [
    0,
    'can user:mallory cancel kvstore',
    `yes: user:mallory is an owner of kvstore\n  by owners of kvstore (the configuration of ${URL})\n`,
  ],
  [0, `can user:alice create --file ${file}`, /^yes: user:alice may have pipelines called storage-\*/],
  [4, 'can user:eve cancel kvstore', /^no: user:eve is not an owner of kvstore/],
  [4, 'can user:eve run-scripts', /^no: .* platform\.scripts lets group:platform/],
  [2, 'can user:eve fly kvstore', /there is no fly/],
  [4, 'can user:eve cancel other', /there is no pipeline other/],
] as const)('%d: a command that goes through a server asks by its rules: %s', async (code, words, text) => {
  const { code: ended, out, err } = await asking(words);
  expect(out + err).toMatch(text);
  expect(ended).toBe(code);
});

test('past the server it asks by the file of the machine, as the command itself would', async () => {
  const { code, out, connections } = await asking('can user:eve cancel kvstore --break-glass night');
  expect([code, out]).toEqual([0, expect.stringContaining(`by platform.admins (${config})`)]);
  expect(connections).toHaveLength(1);
});

test('an anonymous caller asks nothing, even if reading is open: answers say who is in which group', async () => {
  const { code, err } = await asking('can user:mallory cancel kvstore', { token: null });
  expect([code, err]).toEqual([4, expect.stringContaining('unauthorized')]);
});

test('groups from a provider count for a caller who asks about themselves', async () => {
  const words = 'can user:wendy create --file';
  expect((await asking(`${words} ${file}`)).code).toBe(4);
  const own = await asking('can user:wendy use mutex/region-x', { token: ALICE });
  expect(own.out).toMatch(/^yes/);
  expect((await asking('can user:wendy use mutex/region-x')).out).toMatch(/^no/);
});

test('programs learn which server answered', async () => {
  const { out } = await asking('can user:mallory cancel kvstore -o json');
  expect(JSON.parse(out)).toMatchObject({ allowed: true, by: 'owners of kvstore', file: null, server: URL });
});
