import { renderPipeline } from '../../render/pipeline';
import type { Temporal } from '../../client/connection';
import { historyOfPipeline } from '../../client/history';
import { withReplacements } from '../../client/replacements';
import type { Workflows } from '../../client/workflows';
import type { BroughtVersion } from '../../domain/broughtVersions';
import { hashConfig } from '../../domain/deploy/result';
import { deploysWithConfig } from '../../domain/spec/deployActions';
import { withRollback } from '../../client/undone';
import { listRunningVersions } from '../../domain/pipeline/undone';
import type { PipelineState } from '../../domain/pipeline/state';
import { pipeline, release } from '../builders/cliSamples';
import { artifact, pipelineOf } from '../builders/pipelineWorld';

/** A retired pipeline gets no notice of what others deploy to its services: who runs there is read from the locks. */

const at = '2026-11-20T14:00:00.000Z';
const brought = (
  name: string,
  number: number,
  version: string,
  more: Partial<BroughtVersion> = {},
): BroughtVersion => ({
  ...{ pipeline: name, release: number, action: 'deploy', version, artifacts: [artifact(version)] },
  ...{ at, config: 7, ...more },
});

const state = pipelineOf(['deploy']);
const name = state.spec.pipeline;
const good = { deploy: { release: 4, version: 'v:4' } };
const retired = { actor: 'user:alice', at, reason: 'moved' };
const own = brought(name, 4, 'v:4');
const hotfix = brought('hotfix', 1, 'v:9');
const BY_HOTFIX = { by: 'hotfix/1', version: 'v:9' };

/** Visibility with runs of locks, the newest first, each with what it knows. */
function temporal(locks: readonly (readonly [string, unknown])[], answer?: PipelineState) {
  const queries: string[] = [];
  const list = async function* ({ query }: { query: string }) {
    queries.push(query);
    for (const [service, known] of locks) yield { workflowId: `lock/twine/${service}`, memo: { brought: known } };
  };
  const getHandle = () => ({ query: () => Promise.resolve(answer) });
  const client = { workflow: { list, getHandle }, withDeadline: (_: number, call: () => unknown) => call() };
  return { queries, parts: { client } as unknown as Temporal };
}

const replacedIn = async (
  locks: Parameters<typeof temporal>[0],
  lastGood: Parameters<typeof withReplacements>[2]['lastGood'] = good,
) => (await withReplacements(temporal(locks).parts, state, { lastGood, retired }))['deploy'];

test.each<[string, Parameters<typeof temporal>[0], unknown]>([
  ['another pipeline that has deployed since', [['web', [own, hotfix]]], { ...good.deploy, replaced: BY_HOTFIX }],
  ['nobody, where its own deploy is the newest', [['web', [hotfix, own]]], good.deploy],
  [
    'what the newest run of the lock knows',
    [
      ['web', [own, hotfix]],
      ['web', [own]],
    ],
    { ...good.deploy, replaced: BY_HOTFIX },
  ],
  [
    'nobody, on another service',
    [
      ['web', [own]],
      ['api', [brought('other', 1, 'v:1'), hotfix]],
    ],
    good.deploy,
  ],
  ['nobody, where its lock knows another release of it', [['web', [brought(name, 3, 'v:3'), hotfix]]], good.deploy],
  [
    'nobody, where the memo of a lock is no such list',
    [
      ['web', 'forged'],
      ['api', [{ ...own, at: 'never' }]],
    ],
    good.deploy,
  ],
])('on the service of a retired pipeline runs %s', async (_, locks, expected) => {
  expect(await replacedIn(locks)).toEqual(expected);
});

test('a retired pipeline whose version runs again does not name who had replaced it', async () => {
  const before = { deploy: { ...good.deploy, replaced: BY_HOTFIX } };
  expect(await replacedIn([['web', [own]]], before)).toEqual(good.deploy);
  expect(await replacedIn([], before)).toEqual(before.deploy);
});

test('a pipeline whose deploy has another name since is shown who runs there, though its lock knows the old name', async () => {
  const spec = { ...state.spec, actions: { ship: state.spec.actions['deploy']! } };
  const row = release({ id: `${name}/4`, pipeline: name, number: 4, state: 'succeeded', endedAt: at });
  const deploys = [{ action: 'deploy', outcome: 'succeeded', classification: 'success', version: 'v:4' } as const];
  const history = [{ ...row, durationMs: 1, deploys }];
  const config = hashConfig(deploysWithConfig(spec)[0]![1]);
  const { parts } = temporal([['web', [brought(name, 4, 'v:4', { config }), brought('hotfix', 1, 'v:9', { config })]]]);
  const renamed = { ship: good.deploy };
  expect(await withReplacements(parts, { spec, history }, { lastGood: renamed })).toEqual({
    ship: { ...good.deploy, replaced: BY_HOTFIX },
  });
});

test('no lock is read for a pipeline that gets notices', async () => {
  const { queries, parts } = temporal([['web', [own, hotfix]]]);
  expect(await withReplacements(parts, state, { lastGood: good })).toEqual(good);
  expect(queries).toEqual([]);
});

test('status and history say who runs instead of the release that was good last', async () => {
  const row = { ...release({ id: `${name}/4`, pipeline: name, number: 4, state: 'succeeded', endedAt: at }) };
  const history = [{ ...row, durationMs: 1, deploys: [] }];
  const known = [{ release: 4, version: 'v:4', artifacts: own.artifacts }];
  const ended: PipelineState = { ...state, retired, history, good: { deploy: known } };
  const { parts } = temporal([['web', [own, hotfix]]], ended);
  const workflows = { temporal: parts, pipelineState: () => Promise.resolve(ended) } as unknown as Workflows;
  expect((await historyOfPipeline(workflows, name)).map((one) => one.replacedBy)).toEqual(['hotfix/1']);
  expect(await withRollback(parts, row)).toMatchObject({ replacedBy: 'hotfix/1' });
  const lastGood = { deploy: { ...good.deploy, replaced: BY_HOTFIX } };
  const shown = pipeline({ id: name, retired, lastGood, releases: [{ ...row, replacedBy: 'hotfix/1' }] });
  const text = renderPipeline(shown, { width: 140, color: false, now: Date.parse(at), timeZone: 'UTC' });
  expect(text).toContain('brought by hotfix/1; release 4 had brought v:4');
  expect(text).toContain('✔ succeeded, replaced by hotfix/1');
});

test('where no lock can be looked for, status says what the pipeline knew, and that the rest is not known', async () => {
  const { parts } = temporal([]);
  parts.client.workflow.list = () => {
    throw new Error('visibility is away');
  };
  const lastGood = await withReplacements(parts, state, { lastGood: good, retired });
  expect(lastGood).toEqual({ deploy: { ...good.deploy, replacedUnknown: true } });
  const shown = pipeline({ id: name, retired, lastGood });
  const text = renderPipeline(shown, { width: 140, color: false, now: Date.parse(at), timeZone: 'UTC' });
  expect(text).toMatch(/v:4 +since release 4; unknown whether another pipeline has replaced it: /);
  expect(listRunningVersions({ id: name, lastGood }, { active: [], inherited: {} })).toEqual([]);
});

test('with more locks than are read, a missing lock does not count as unused by others', async () => {
  const others = Array.from({ length: 2_000 }, (_, n) => [`s${n}`, []] as const);
  expect(await replacedIn([...others, ['web', [own, hotfix]]])).toEqual({ ...good.deploy, replacedUnknown: true });
  expect(await replacedIn([['web', [own]], ...others])).toEqual(good.deploy);
});
