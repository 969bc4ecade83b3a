import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ConveyorClient } from '../../client/api';
import { conveyorError } from '../../domain/errors';
import { CONFIG } from '../builders/accessWorld';
import { deploy, release } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';
import { specOf } from '../builders/pipelineWorld';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-can-'));
const config = join(folder, 'conveyor.config.yaml');
writeFileSync(config, stringify(CONFIG));

const PIPELINE = `pipeline: storage-new
owners: [user:alice]
artifacts: { executable: { finder: manual } }
actions:
  deploy: { type: deploy, inputs: [executable], with: { pushType: twine } }
`;
const file = join(folder, 'pipeline.yaml');
writeFileSync(file, PIPELINE);

/** A pipeline that is there, of mallory; its deploy holds kvstore-x. */
const client: Partial<ConveyorClient> = {
  spec: (pipeline) =>
    pipeline === 'kvstore'
      ? Promise.resolve(specOf(['deploy'], { owners: ['user:mallory'], labels: { parent: 'release-train' } }))
      : Promise.reject(conveyorError('unknown-pipeline', { pipeline })),
  exportPipeline: (pipeline) => Promise.reject(conveyorError('unknown-pipeline', { pipeline })),
  status: (id) => Promise.resolve(id.split('/').length === 3 ? deploy() : release()),
};

const can = (...words: string[]) => run(['can', ...words], { client, env: { CONVEYOR_CONFIG: config } });

test.each([
  [0, 'user:mallory cancel kvstore', `yes: user:mallory is an owner of kvstore\n  by owners of kvstore (${config})\n`],
  [
    0,
    'user:alice cancel kvstore/13/deploy',
    `yes: user:alice owns twine/kvstore-x, which it holds\n  by platform.services.0.owners, through group:storage (${config})\n`,
  ],
  [4, 'user:alice resume kvstore/13/deploy', 'no: user:alice is not an owner of kvstore: user:mallory\n'],
  [4, 'group:storage cancel kvstore', 'no: group:storage is a group, which never acts: come as one of its members\n'],
  [
    0,
    'group:storage deploy twine/kvstore-x',
    /^yes: its owners own twine\/kvstore-x\n {2}by platform\.services\.0\.owners/,
  ],
  [
    4,
    'user:mallory deploy twine/kvstore-x',
    /^no: pipelines of user:mallory may not deploy to twine\/kvstore-x: platform/,
  ],
  [0, 'user:bob use mutex/region-x', /^yes/],
  [4, 'user:bob run-scripts', /^no: .* platform\.scripts lets group:platform/],
  [0, 'release-train start-child kvstore', /^yes: release-train may start kvstore/],
  [4, 'other start-child kvstore', /^no: kvstore does not name other as its parent/],
  [0, 'user:mallory read-audit kvstore', /^yes: user:mallory is an owner of kvstore/],
  [4, 'user:alice read-audit kvstore', /^no: the audit of kvstore is for its owners and for platform\.admins/],
  [0, 'user:root read-audit', /^yes: admins may do everything\n {2}by platform\.admins, through group:platform/],
  [4, 'user:alice read-audit', /^no: all of the audit is for platform\.admins/],
  [0, 'nobody read', /^yes: read is for anybody/],
  [0, `user:alice create --file ${file}`, /^yes: user:alice may have pipelines called storage-\*/],
  [4, `user:wendy apply --file ${file}`, /^no: user:wendy is not an owner of storage-new/],
  [4, 'user:wendy apply kvstore', /^no: user:wendy is not an owner of kvstore/],
] as const)('%d: conveyor can %s', async (code, words, text) => {
  const ran = await can(...words.split(' '));
  expect(ran.out + ran.err).toMatch(text);
  expect(ran.code).toBe(code);
});

test.each([
  ['user:alice fly kvstore', 2, /there is no fly.*\nhint: one of read, read-audit, create/],
  ['alice cancel kvstore', 2, /alice is not a principal/],
  ['user:alice cancel', 2, /nothing is not the id of a pipeline/],
  ['user:alice use region-x', 2, /use does not take region-x\nhint: name one such as mutex\/region-x/],
  ['user:alice deploy kvstore-x', 2, /name a unit, such as twine\/kvstore-x/],
  ['user:alice cancel other', 4, /there is no pipeline other/],
] as const)('an invalid question is an error and no answer: %s', async (words, code, text) => {
  const ran = await can(...words.split(' '));
  expect([ran.code, ran.out]).toEqual([code, '']);
  expect(ran.err).toMatch(text);
});

test('programs get the decision with its place and the group, and -o name the word alone', async () => {
  const { out } = await can('user:alice', 'cancel', 'kvstore/13/deploy', '-o', 'json');
  expect(JSON.parse(out)).toEqual({
    ...{ who: 'user:alice', verb: 'cancel', what: 'kvstore/13/deploy', allowed: true },
    ...{ by: 'platform.services.0.owners', through: 'group:storage', file: config, server: null },
    why: 'user:alice owns twine/kvstore-x, which it holds',
  });
  expect((await can('user:eve', 'cancel', 'kvstore', '-o', 'name')).out).toBe('no\n');
});

test('the verbs that can be asked about are completed', async () => {
  const { out } = await run(['__complete', '--', 'can', 'user:alice', 'ca']);
  expect(out.trim()).toBe('cancel');
});
