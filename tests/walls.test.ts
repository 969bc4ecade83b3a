import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import * as path from 'node:path';
import { FOLDERS, ROOT } from './setup/sources';

interface Snippet {
  /** Below the root; it need not exist. */
  readonly file: string;
  readonly code: string;
  /** With the rules that need the compiler too. */
  readonly isTyped?: true;
}

/** The findings of the linter on each of them: `rule: message`, one for each complaint. */
function lint(snippets: readonly Snippet[]): string[][] {
  const { stdout, stderr } = spawnSync(process.execPath, ['tests/setup/lintSnippets.js'], {
    ...{ cwd: ROOT, input: JSON.stringify(snippets), encoding: 'utf8', maxBuffer: 1e8 },
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as string[][];
}

const WALL = /^conveyor\/walls: .* may (not import|import only types of) /;

/** A file, and what stands in it. */
type Case = [string, string];

const CROSSING: Case[] = [
  ['domain/plan.ts', `import { z } from 'zod';`],
  ['domain/plan.ts', `import { readFileSync } from 'node:fs';`],
  ['domain/plan.ts', `import { proxyActivities } from '@temporalio/workflow';`],
  ['domain/plan.ts', `import { pino } from 'pino';`],
  ['domain/plan.ts', `import { deploySchema } from './spec/deploy';`],
  ['domain/plan.ts', `import type { Call } from '../sdk/protocol/common';`],
  ['domain/deploy/plan.ts', `import { push } from '../../activities/push';`],
  ['domain/deploy/plan.ts', `export * from '../spec/deploy';`],
  ['domain/spec/parse.ts', `import { readFileSync } from 'fs';`],
  ['domain/spec/parse.ts', `import { DateTime } from 'luxon';`],
  ['domain/spec/parse.ts', `import { Cron } from 'croner';`],
  ['domain/deploy/plan.ts', `import { windowAt } from '../calendar/window';`],
  ['domain/calendar/window.ts', `import { deploySchema } from '../spec/deploy';`],
  ['domain/calendar/window.ts', `import { z } from 'zod';`],
  ['domain/spec/parse.ts', `import { call } from '../../sdk/call';`],
  ['workflows/deploy.ts', `import { z } from 'zod';`],
  ['workflows/deploy.ts', `import { parse } from 'yaml';`],
  ['workflows/deploy.ts', `import { DateTime } from 'luxon';`],
  ['workflows/deploy.ts', `import { windowAt } from '../domain/calendar/window';`],
  ['activities/calendar.ts', `import { DateTime } from 'luxon';`],
  ['cli/commands/plan.ts', `import { Cron } from 'croner';`],
  ['workflows/deploy.ts', `import { pino } from 'pino';`],
  ['workflows/deploy.ts', `import { createHash } from 'node:crypto';`],
  ['workflows/deploy.ts', `import { createHash } from 'crypto';`],
  ['workflows/deploy.ts', `import { Context } from '@temporalio/activity';`],
  ['workflows/deploy.ts', `import { deploySchema } from '../domain/spec/deploy';`],
  ['workflows/deploy.ts', `import { createActivities } from '../activities/push';`],
  ['workflows/deploy.ts', `import { createActivities, type Push } from '../activities/push';`],
  ['workflows/deploy.ts', `export { deploySchema } from '../domain/spec/deploy';`],
  ['workflows/deploy.ts', `const schema = await import('../domain/spec/deploy');`],
  ['workflows/deploy.ts', `const schema = require('../domain/spec/deploy');`],
  ['workflows/deploy/phase.ts', `import type { Call } from '../../sdk/protocol/common';`],
  ['workflows/deploy/phase.ts', `import type { ConveyorClient } from '../../client/api';`],
  ['activities/push.ts', `import { deploy } from '../workflows/deploy';`],
  ['activities/push.ts', `import type { World } from '../simulator/world';`],
  ['activities/push.ts', `import { connect } from '../client/connect';`],
  ['configerator/compiler/compile.ts', `import { connect } from '../../client/connect';`],
  ['configerator/compiler/compile.ts', `import { createWorker } from '../../workers/createWorker';`],
  ['sdk/server.ts', `import { compile } from '../configerator/compiler/compile';`],
  ['sdk/server.ts', `import { World } from '../simulator/world';`],
  ['sdk/server.ts', `import { connect } from '../client/connect';`],
  ['sdk/server.ts', `import type { Registry } from '../settings/registry';`],
  ['simulator/world.ts', `import { loadRegistry } from '../settings/registry';`],
  ['settings/registry.ts', `import { connect } from '../client/connect';`],
  ['examples/extensions/pushType.ts', `import { loadRegistry } from '../../settings/registry';`],
  ['push-types/hosts/service.ts', `import { HOSTS_LIMITS } from '../../domain/limits';`],
  ['push-types/hosts/service.ts', `import { loadRegistry } from '../../settings/registry';`],
  ['configerator/proxy/proxy.ts', `import { push } from '../../activities/push';`],
  ['configerator/proxy/proxy.ts', `import { connect } from '../../client/connect';`],
  ['sdk/config.ts', `import { EtcdStore } from '../configerator/store/etcd';`],
  ['configerator/domain/path.ts', `import type { StoredValue } from '../../configerator/store/port';`],
  ['domain/target.ts', `import type { Bug } from '../features/bugs/domain/bug';`],
  ['activities/approvals.ts', `import { lookForBugs } from '../features/bugs/activities/lookForBugs';`],
  ['features/freshness/domain/policy.ts', `import type { Bug } from '../../bugs/domain/bug';`],
  ['features/bugs/domain/bug.ts', `import { z } from 'zod';`],
  ['features/bugs/workflows/bugs.ts', `import { createBugActivities } from '../activities/bugs';`],
  ['features/bugs/render/bugs.ts', `import { bugsClient } from '../client/bugs';`],
  ['workflows/landing.ts', `import type { ConfigStore } from '../configerator/store/port';`],
  ['simulator/world.ts', `import { push } from '../activities/push';`],
  ['simulator/world.ts', `import { connect } from '../client/connect';`],
  ['client/connect.ts', `import { push } from '../activities/push';`],
  ['client/connect.ts', `import { call } from '../sdk/call';`],
  ['client/http/send.ts', `import { Client } from '@temporalio/client';`],
  ['client/http/client.ts', `import { connect } from '../connection';`],
  ['client/http/client.ts', `import { app } from '../../server/app';`],
  ['client/connection.ts', `import { send } from './http/send';`],
  ['client/operations/pipelines.ts', `import { connect } from '../connection';`],
  ['client/operations/pipelines.ts', `import { compile } from '../../configerator/compiler/compile';`],
  ['client/operations/pipelines.ts', `import { z } from 'zod';`],
  ['server/app.ts', `import { deploy } from '../workflows/deploy';`],
  ['server/app.ts', `import { World } from '../simulator/world';`],
  ['cli/commands/dev.ts', `import { main } from '../../workers/main';`],
  ['cli/commands/dev.ts', `import { World } from '../../simulator/world';`],
  ['cli/commands/dev.ts', `import { deploy } from '../../workflows/deploy';`],
  ['cli/commands/dev.ts', `import { app } from '../../server/app';`],
  ['workers/main.ts', `import { paint } from '../render/paint';`],
  ['workers/main.ts', `import { app } from '../server/app';`],
  ['sdk/server.ts', `import { fleet } from '../tests/setup/fleet';`],
  ['examples/extension.ts', `import { push } from '../activities/push';`],
  ['examples/extension.ts', `import { NAME } from '../domain/ids';`],
  ['examples/extension.ts', `type Client = import('../client/api').ConveyorClient;`],
];

const WITHIN: Case[] = [
  ['workflows/index.ts', `export { bugs } from '../features/bugs/workflows/bugs';`],
  [
    'features/bugs/activities/bugs.ts',
    `export { plural } from '../../../domain/text';\nexport * from '../domain/bug';`,
  ],
  ['domain/deploy/plan.ts', `export type { DeploySpec } from '../spec/deploy';`],
  ['domain/deploy/plan.ts', `export { percent } from '../fleet/amount';`],
  ['domain/spec/deploy.ts', `export { z } from 'zod';\nexport { parse } from 'yaml';\nexport { NAME } from '../ids';`],
  [
    'workflows/deploy.ts',
    `export { sleep } from '@temporalio/workflow';\nexport { planDeploy } from '../domain/deploy/plan';`,
  ],
  [
    'domain/calendar/window.ts',
    `export { IANAZone } from 'luxon';\nexport { Cron } from 'croner';\nexport type { ActionSpec } from '../spec/pipeline';`,
  ],
  ['domain/spec/rules/schedule.ts', `export { nextTick } from '../../calendar/ticks';`],
  ['activities/calendar.ts', `export { windowAt } from '../domain/calendar/window';`],
  ['workflows/deploy.ts', `export type { WindowState } from '../domain/calendar/window';`],
  ['workflows/deploy.ts', `export type { DeploySpec } from '../domain/spec/deploy';`],
  ['workflows/deploy.ts', `export { type PushActivities } from '../activities/push';`],
  ['activities/push.ts', `export { deploySchema } from '../domain/spec/deploy';\nexport { call } from '../sdk/call';`],
  ['settings/callbacks.ts', `export type { RunCallback } from '../sdk/protocol/actionService';`],
  [
    'configerator/proxy/proxy.ts',
    `export { call } from '../../sdk/call';\nexport { readFileSync } from 'node:fs';\nexport { NAME } from '../../domain/ids';`,
  ],
  ['activities/tailer.ts', `export { MemoryStore } from '../configerator/store/memory';`],
  ['simulator/world.ts', `export { serve } from '../sdk/server';\nexport { NAME } from '../domain/ids';`],
  ['client/connect.ts', `export { verbUpdate } from '../workflows/messages';`],
  [
    'client/http/client.ts',
    `export type { ConveyorClient } from '../api';\nexport { parseId } from '../../domain/ids';`,
  ],
  ['client/http/client.ts', `export { CLIENT_OPERATIONS } from '../operations';`],
  ['client/guard.ts', `export { CLIENT_OPERATIONS } from './operations';`],
  ['server/app.ts', `export { CLIENT_OPERATIONS } from '../client/operations';`],
  ['cli/door.ts', `export { createHttpClient } from '../client/http/client';`],
  ['cli/commands/plan.ts', `export { connect } from '../../client/connect';\nexport { readFileSync } from 'node:fs';`],
  // A folder or file further down that happens to be named like a layer is not a layer.
  ['cli/commands/status.ts', `export { run } from './server';\nexport { draw } from '../simulator/draw';`],
  ['workers/main.ts', `export { push } from '../activities/push';\nexport { deploy } from '../workflows/deploy';`],
  ['tests/system/dev.long.test.ts', `export { main } from '../../workers/main';`],
];

/** With the rule that forbids it. */
const UNTRUE: [string, string, string][] = [
  ['domain/plan.ts', 'export const now = Date.now();', 'no-restricted-syntax'],
  ['domain/plan.ts', 'export const now = new Date();', 'no-restricted-syntax'],
  ['domain/plan.ts', 'export const now = Date();', 'no-restricted-syntax'],
  ['domain/spec/parse.ts', 'export const now = new Date();', 'no-restricted-syntax'],
  ['domain/plan.ts', 'export const dice = Math.random();', 'no-restricted-syntax'],
  ['domain/plan.ts', 'setTimeout(() => undefined, 1);', 'no-restricted-globals'],
  ['domain/plan.ts', 'export const region = process.env.REGION;', 'no-restricted-globals'],
  ['domain/plan.ts', 'export const id = crypto.randomUUID();', 'no-restricted-globals'],
  ['domain/plan.ts', 'let calls = 0;\nexport const count = () => (calls += 1);', 'no-restricted-syntax'],
  ['workflows/deploy.ts', 'export let calls = 0;', 'no-restricted-syntax'],
  ['workflows/deploy.ts', 'export const seen = new Set<string>();', 'no-restricted-syntax'],
  ['workflows/deploy.ts', 'export const kept: Map<string, number> = new Map();', 'no-restricted-syntax'],
  ['activities/push.ts', 'export const now = Date.now();', 'no-restricted-syntax'],
  ['activities/push.ts', 'export const now = new Date();', 'no-restricted-syntax'],
  ['activities/push.ts', 'setTimeout(() => undefined, 1);', 'no-restricted-globals'],
  [
    'activities/push.ts',
    `export { };\nimport { setTimeout as wait } from 'node:timers/promises';\nvoid wait;`,
    'no-restricted-syntax',
  ],
  ['client/connect.ts', 'export default 1;', 'no-restricted-syntax'],
  ['client/connect.ts', 'const a = 1;\nexport { a as default };', 'no-restricted-syntax'],
  ['client/connect.ts', `export { default } from './api';`, 'no-restricted-syntax'],
  ['client/connect.ts', 'export enum State { Open }', 'no-restricted-syntax'],
  ['client/connect.ts', 'export const a: any = 1;', '@typescript-eslint/no-explicit-any'],
  ['client/connect.ts', 'export const a = [1][0]!;', '@typescript-eslint/no-non-null-assertion'],
];

const HARMLESS: Case[] = [
  ['domain/plan.ts', 'export const at = (ms: number): string => new Date(ms).toISOString();'],
  ['activities/clock.ts', 'export const now = (): number => Date.now();'],
  ['workflows/deploy.ts', 'export const now = (): number => Date.now();'],
  ['workflows/deploy.ts', `export const ENDS: ReadonlySet<string> = new Set(['ended']);`],
  ['workflows/deploy.ts', 'export const tally = () => new Map<string, number>();'],
  ['tests/a.test.ts', 'export const a = [1][0]!;'],
];

const FLOATING: Snippet = { file: 'client/planted.ts', code: 'export const f = async () => 1;\nf();', isTyped: true };

const keyOf = ({ file, code }: Snippet): string => `${file}\n${code}`;
const found = new Map<string, string[]>();

beforeAll(() => {
  const all = [...CROSSING, ...WITHIN, ...UNTRUE, ...HARMLESS].map(([file, code]): Snippet => ({ file, code }));
  const snippets = [...all, FLOATING];
  for (const [nth, complaints] of lint(snippets).entries()) found.set(keyOf(snippets[nth] as Snippet), complaints);
});

const complaints = (file: string, code: string): string[] => found.get(keyOf({ file, code })) ?? ['never linted'];

describe('an import that crosses a wall is rejected', () => {
  test.each(CROSSING)('%s: %s', (file, code) => {
    expect(complaints(file, code)).toContainEqual(expect.stringMatching(WALL));
  });
});

describe('an import within the walls is accepted', () => {
  test.each(WITHIN)('%s: %s', (file, code) => {
    expect(complaints(file, code)).toEqual([]);
  });
});

describe('code that would make a run unrepeatable or a type untrue is rejected', () => {
  test.each(UNTRUE)('%s: %s', (file, code, rule) => {
    expect(complaints(file, code)).toContainEqual(expect.stringMatching(new RegExp(`^${rule}: `)));
  });

  test.each(HARMLESS)('but not its harmless likeness: %s: %s', (file, code) => {
    expect(complaints(file, code)).toEqual([]);
  });

  test('an unawaited promise is rejected, wherever it is', () => {
    expect(complaints(FLOATING.file, FLOATING.code)).toEqual([
      expect.stringMatching(/^@typescript-eslint\/no-floating-promises: /),
    ]);
  });
});

/** Folders that may import everything, and those that hold nothing of ours. */
const WITHOUT_WALLS = ['tests', 'bench'];
const NOT_OURS = /^(\.|node_modules$|dist$|coverage$)/;

const hasTypeScript = (folder: string): boolean =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' }).some((file) => /\.tsx?$/.test(file));

test('every folder with code has walls, and the compiler sees these folders and no other', () => {
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((one) => one.isDirectory() && !NOT_OURS.test(one.name) && hasTypeScript(one.name))
    .map(({ name }) => name);
  const known = [...FOLDERS, ...WITHOUT_WALLS];
  expect(folders.sort()).toEqual([...known].sort());
  const { include } = JSON.parse(readFileSync(path.join(ROOT, 'tsconfig.json'), 'utf8')) as { include: string[] };
  expect(include).toEqual(known);
});
