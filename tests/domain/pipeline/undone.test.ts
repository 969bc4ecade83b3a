import type { Artifact } from '../../../domain/artifact';
import { listRunningVersions, undoneBy, withUndone } from '../../../domain/pipeline/undone';
import type { Inheritance } from '../../../domain/deploy/planRevert';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { queueRelease, markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { queueRollback } from '../../../domain/pipeline/rollback';
import { pipelineDetails, pipelineStatus } from '../../../domain/pipeline/view';
import type { ReleaseSummary, RunsNow } from '../../../domain/views';
import { pipeline, release } from '../../builders/cliSamples';
import { artifact, deployed, NOW, pipelineOf, resultOf, running as withRunning } from '../../builders/pipelineWorld';

const at = '2026-11-20T14:00:00.000Z';
const one = (number: number, more: Partial<ReleaseSummary> = {}): ReleaseSummary =>
  release({ id: `web/${number}`, pipeline: 'web', number, state: 'succeeded', endedAt: at, ...more });
const rollback = (number: number, of: number, more: Partial<ReleaseSummary> = {}): ReleaseSummary =>
  one(number, { trigger: { kind: 'rollback', actor: 'user:alice', key: null, of }, ...more });
const running = { state: 'running', endedAt: null } as const;
const shipped = (state: PipelineState, number: number, ...artifacts: readonly Artifact[]) =>
  recordRelease(state, resultOf(number, [deployed('deploy', 'succeeded', ...artifacts)], artifacts), NOW);

test.each<[string, ReleaseSummary[], unknown]>([
  ['a rollback that came through', [one(4), rollback(5, 4)], { by: 'web/5', at }],
  [
    'a rollback under way, whose end is open',
    [one(4), rollback(5, 4, running)],
    { by: 'web/5', at: null, state: 'running' },
  ],
  [
    'a rollback that waits',
    [one(4), rollback(5, 4, { ...running, state: 'queued' })],
    { by: 'web/5', at: null, state: 'queued' },
  ],
  [
    'the rollback that came through after one that failed',
    [rollback(5, 4, { state: 'failed' }), rollback(6, 4)],
    { by: 'web/6', at },
  ],
  [
    'the rollback that came through, although that was undone itself',
    [rollback(5, 4), rollback(6, 5)],
    { by: 'web/5', at },
  ],
  ['no rollback that failed', [one(4), rollback(5, 4, { state: 'failed' })], undefined],
  ['no rollback of another release', [one(4), rollback(5, 3)], undefined],
  ['no rollback of another pipeline', [one(4), rollback(5, 4, { pipeline: 'api', id: 'api/5' })], undefined],
  [
    'no follow-on, which names its release in the same way',
    [one(4), one(5, { trigger: { kind: 'follow-on', actor: 'service:conveyor', key: null, of: 4 } })],
    undefined,
  ],
])('a release is undone by %s', (_, releases, undone) => {
  expect(undoneBy(one(4), releases)).toEqual(undone);
});

test('among many releases only the undone ones are marked', () => {
  expect(withUndone([one(3), one(4), rollback(5, 4)]).map(({ number, undone }) => [number, undone?.by])).toEqual([
    [3, undefined],
    [4, 'web/5'],
    [5, undefined],
  ]);
});

test('the Web UI shows beside a release the rollback that undoes it, and later that it has', () => {
  const kv2 = artifact('kv:2');
  const two = shipped(withRunning(pipelineOf(), kv2), 1, kv2);
  const of = { kind: 'rollback', actor: 'user:alice', key: null, of: 1 } as const;
  const back = markReleaseRunning(queueRelease(two, [artifact('kv:1')], of, NOW), 2);
  expect(pipelineDetails(back, NOW)).toMatch(/^ *1 .*being undone by kvstore\/2$/m);
  expect(pipelineDetails(shipped(back, 2, artifact('kv:1')), NOW)).toMatch(/^ *1 .* undone by kvstore\/2$/m);
  expect(pipelineDetails(two, NOW)).not.toContain('undone');
});

test('each action runs now the newest good deploy of its own or of another pipeline, or the version from before', () => {
  const lastGood = {
    one: { release: 5, version: 'v3' },
    first: { release: 0, version: 'v1' },
    taken: { release: 4, version: 'v4', replaced: { by: 'hotfix/1', version: 'v9' } },
    partly: { release: 4, version: 'v4', replaced: { by: 'hotfix/1', version: 'v9', on: 'web-x' } },
    gone: { release: 4, version: 'v4', replaced: { by: 'hotfix/2', version: 'nothing', removed: true as const } },
  };
  const status = pipeline({ id: 'web', lastGood });
  expect(listRunningVersions(status, { active: [], inherited: {} })).toEqual([
    { action: 'one', version: 'v3', by: 'web/5' },
    { action: 'first', version: 'v1', by: null },
    { action: 'taken', version: 'v9', by: 'hotfix/1' },
    { action: 'partly', version: 'v4', by: 'web/4' },
  ]);
  const left = { left: ['v5'], snapshot: null } as unknown as Inheritance;
  const others = ({ action }: RunsNow) => action !== 'one';
  expect(listRunningVersions(status, { active: [], inherited: { one: left } })).toEqual(
    listRunningVersions(status, { active: [], inherited: {} }).filter(others),
  );
  const deploying = [{ deploying: true }] as unknown as PipelineState['active'];
  expect(listRunningVersions(status, { active: deploying, inherited: {} })).toEqual([]);
});

test('in production is what is being undone, until the rollback has brought back the version before', () => {
  const two = shipped(withRunning(pipelineOf(), artifact('kv:2')), 1, artifact('kv:2'));
  const three = recordRelease(
    withRunning(two, artifact('kv:3')),
    resultOf(2, [deployed('deploy', 'succeeded', artifact('kv:3'))], [artifact('kv:3')]),
    NOW,
  );
  const why = { of: 2, actor: 'user:alice', reason: '', notBad: false };
  const back = markReleaseRunning(queueRollback(three, [artifact('kv:2')], why, NOW), 3);
  const { version } = three.history.at(-1)?.deploys[0] ?? { version: '' };
  expect(pipelineStatus(back, NOW).lastGood['deploy']).toMatchObject({
    release: 1,
    undoing: { release: 2, version, by: 'kvstore/3' },
  });
  expect(pipelineDetails(back, NOW)).toContain('brought by release 2; kvstore/3 brings back');
  expect(pipelineStatus(three, NOW).lastGood['deploy']).not.toHaveProperty('undoing');
  const through = shipped(back, 3, artifact('kv:2'));
  expect(pipelineStatus(through, NOW).lastGood['deploy']).not.toHaveProperty('undoing');
});
