import { admit } from '../../../domain/pipeline/admission';
import { effectOfPipeline, takePipeline, whyNotPipeline } from '../../../domain/pipeline/control';
import { whyDropped } from '../../../domain/pipeline/followOn';
import { startable } from '../../../domain/pipeline/queue';
import { lastRanOn, recordRelease } from '../../../domain/pipeline/recordOutcome';
import { buildReleaseInput } from '../../../domain/pipeline/releaseInput';
import { refuseRollBack } from '../../../domain/pipeline/requests';
import { holdPipeline, markReleaseRunning, queueRelease, type PipelineState } from '../../../domain/pipeline/state';
import { followsWithdrawal, listDeployed } from '../../../domain/pipeline/undeploy';
import { undeploySpec, type DeployEndRecord } from '../../../domain/release/state';
import type { PipelineSpec } from '../../../domain/spec/pipeline';
import { artifact, deployed, manual, NOW, pipelineOf, resultOf, running } from '../../builders/pipelineWorld';

const WHY = { actor: 'user:alice', reason: 'the shop no longer needs it' };
const isDone = (state: PipelineState, ...deploys: DeployEndRecord[]): PipelineState => {
  const artifacts = deploys.flatMap((deploy) => deploy.artifacts);
  return recordRelease(running(state, ...artifacts), resultOf(state.nextNumber, deploys, artifacts), NOW);
};
const good = isDone(pipelineOf(), deployed('deploy', 'succeeded', artifact('kv:1')));
const asked = takePipeline(good, 'undeploy', WHY, NOW);
const under = markReleaseRunning(asked, 2);
/** The undeploy asks for its turn. */
const ready = { release: 2, action: 'deploy', artifacts: [], rollback: false, kind: 'deploy' } as const;
const removed = (outcome: 'succeeded' | 'cancelled'): PipelineState => {
  const deploy = { ...deployed('deploy', outcome, artifact('kv:1')), artifacts: [] };
  const result = { ...deploy.result, spans: { ...deploy.result.spans, updateMs: 1 } };
  return recordRelease(under, resultOf(2, [{ ...deploy, result }], []), NOW);
};

describe('an undeploy', () => {
  test('is a release that says who asked for it and why, and the pipeline is held from then on', () => {
    expect(whyNotPipeline(good, 'undeploy', WHY, NOW)).toBeUndefined();
    expect(asked.active).toMatchObject([{ number: 2, trigger: { kind: 'undeploy', ...WHY }, artifacts: [] }]);
    expect(asked.held).toMatchObject({
      actor: 'user:alice',
      reason: 'undeploy by release 2: the shop no longer needs it',
    });
    expect(effectOfPipeline('undeploy', asked)).toBe(
      'release 2 removes its units once no other pipeline uses its offers, and it is held from now on: conveyor status kvstore/2',
    );
  });

  test('is named by a hold that was there before, so that its end does not come as a surprise', () => {
    const held = holdPipeline(good, 'user:sam', 'conference', NOW);
    expect(takePipeline(held, 'undeploy', WHY, NOW).held).toMatchObject({
      actor: 'user:sam',
      reason: 'conference; undeploy by release 2: the shop no longer needs it',
    });
  });

  test('supersedes an earlier release that has a turn or waits for one, also for a deploy that never began', () => {
    const first = markReleaseRunning(queueRelease(good, [artifact('kv:2')], manual(), NOW), 2);
    const state = takePipeline(first, 'undeploy', WHY, NOW);
    expect(state.newestBegun).toEqual({ deploy: 3 });
    const again = { ...ready, artifacts: [artifact('kv:2')] };
    expect(admit({ ...state, ready: [again] }, NOW).decisions).toMatchObject([
      { release: 2, admission: { kind: 'superseded', by: 3 } },
    ]);
    const rollback = { ...again, rollback: true };
    expect(admit({ ...state, ready: [rollback] }, NOW).decisions).toMatchObject([{ admission: { kind: 'granted' } }]);
  });

  test('does not wait for its place in a line in which no release is dropped', () => {
    const inOrder = {
      ...good,
      spec: { ...good.spec, releases: { ...good.spec.releases, supersede: 'never' as const } },
    };
    const older = markReleaseRunning(queueRelease(inOrder, [artifact('kv:2')], manual(), NOW), 2);
    const state = markReleaseRunning(takePipeline(older, 'undeploy', WHY, NOW), 3);
    expect(admit({ ...state, ready: [{ ...ready, release: 3 }] }, NOW).decisions).toMatchObject([
      { release: 3, admission: { kind: 'granted' } },
    ]);
  });

  test.each<[string, PipelineState, string]>([
    ['if nothing is deployed', pipelineOf(), 'nothing of it is deployed'],
    ['while another is under way', under, 'release 2 is already undeploying it'],
    ['once all is removed', removed('succeeded'), 'nothing of it is deployed'],
  ])('is refused %s', (_, state, why) => expect(whyNotPipeline(state, 'undeploy', WHY, NOW)).toBe(why));

  test('is taken again after one that was cancelled', () =>
    expect(whyNotPipeline(removed('cancelled'), 'undeploy', WHY, NOW)).toBeUndefined());

  test('concerns a deploy that has begun and never succeeded', () => {
    const failed = isDone(pipelineOf(), deployed('deploy', 'failed', artifact('kv:1')));
    expect(listDeployed(failed)).toEqual(['deploy']);
    expect(takePipeline(failed, 'undeploy', WHY, NOW).active).toMatchObject([{ deployed: ['deploy'] }]);
    expect(listDeployed(pipelineOf())).toEqual([]);
  });

  test('begins during a hold, not during a freeze, and a waiting newer release does not supersede it', () => {
    const newer = markReleaseRunning(queueRelease(under, [artifact('kv:2')], manual(), NOW), 3);
    const both = [ready, { ...ready, release: 3, artifacts: [artifact('kv:2')] }];
    const { decisions } = admit({ ...newer, ready: both }, NOW);
    expect(decisions).toMatchObject([{ release: 2, admission: { kind: 'granted', lastGood: 'kv:1' } }]);
    const frozen = { ...newer, ready: both, frozen: { actor: 'user:sam', reason: 'r', at: '' } };
    expect(admit(frozen, NOW).decisions).toEqual([]);
  });

  test('waits for no room, no calendar and no window', () => {
    const waiting = queueRelease(under, [artifact('kv:2')], manual(), NOW);
    const calendar = { ...under.spec.schedule, mode: 'calendar', gates: 'deploys', calendar: 'c' } as const;
    const scheduled = { ...under, spec: { ...under.spec, schedule: calendar }, ready: [ready] };
    expect(startable(asked, NOW).map(({ number }) => number)).toEqual([2]);
    expect(startable(waiting, NOW).map(({ number }) => number)).toEqual([3]);
    expect(admit(scheduled, NOW).decisions).toMatchObject([{ admission: { kind: 'granted' } }]);
  });

  test('takes no place in a window that lets only so many deploys begin', () => {
    const window = { days: ['mon'], from: '09:00', to: '18:00', timezone: 'UTC', maxDeploys: 1 };
    const limited = (state: PipelineState): PipelineState => ({
      ...state,
      spec: { ...state.spec, actions: { deploy: { ...state.spec.actions['deploy'], window } } } as never,
    });
    const next = { ...limited(good), ready: [{ ...ready, artifacts: [artifact('kv:2')] }] };
    expect(admit(running(next, artifact('kv:2')), NOW).state.begunAt).toEqual({ deploy: [[2, NOW]] });
    const { state, decisions } = admit({ ...limited(under), ready: [ready] }, NOW);
    expect([decisions.length, state.begunAt]).toEqual([1, undefined]);
  });

  test('that has succeeded leaves nothing to go back to, and the next release compares with nothing', () => {
    const state = removed('succeeded');
    expect(state.good).toEqual({});
    expect(lastRanOn(state)).toEqual([]);
    expect(state.held).not.toBeNull();
    expect(refuseRollBack(state, 1, WHY)).toMatchObject({ message: 'nothing of it is deployed' });
  });

  test('that was cancelled leaves the records of what it may not have removed', () =>
    expect(removed('cancelled').good['deploy']).toMatchObject([{ version: 'kv:1', since: null }]));

  test('is never undone by a rollback', () =>
    expect(refuseRollBack(removed('succeeded'), 2, WHY)).toMatchObject({
      message: 'an undeploy cannot be reverted: cancel it, then release the version that should run',
    }));

  test('makes follow-ons unnecessary', () => {
    const followOn = { action: 'deploy', units: ['job-x'] };
    const trigger = { kind: 'follow-on', actor: 'service:conveyor', key: null, of: 1 } as const;
    const release = {
      number: 3,
      state: 'running',
      artifacts: [artifact('kv:1')],
      trigger,
      createdAt: '',
      followOn,
    } as const;
    expect(whyDropped({ ...good, active: [release] }, release)).toBeUndefined();
    expect(whyDropped({ ...removed('succeeded'), active: [release] }, release)).toEqual({ kind: 'superseded', by: 2 });
  });
});

describe('an offer that is withdrawn', () => {
  const wish = (more: object): PipelineState =>
    ({ ...good, spec: { ...good.spec, wishes: [{ from: 'net', offer: 'vpc', ...more }] } }) as PipelineState;
  const leaves = wish({ onWithdraw: 'undeploy' });
  test.each<[string, PipelineState, string, boolean]>([
    ['undeploys a pipeline whose file says so', leaves, 'vpc', true],
    ['undeploys none whose file says nothing', wish({}), 'vpc', false],
    ['undeploys none that waits', wish({ onWithdraw: 'hold' }), 'vpc', false],
    ['does not stand for another offer', leaves, 'dns', false],
    ['undeploys none that is being undeployed', { ...under, spec: leaves.spec }, 'vpc', false],
  ])('%s', (_, state, offer, follows) =>
    expect(followsWithdrawal(state, { from: 'net', offer, action: 'deploy' })).toBe(follows),
  );
});

describe('the release of an undeploy', () => {
  const build = { type: 'custom-script', needs: [], inputs: [], outputs: ['image'], mutex: [], when: [] };
  const deploy = { ...good.spec.actions['deploy'], inputs: [], soak: { for: '1d' } };
  const actions = {
    build,
    network: { ...deploy, needs: ['build'] },
    test: { ...build, outputs: [], needs: ['network'] },
    service: { ...deploy, needs: ['test'] },
    other: deploy,
  };
  const spec = { ...good.spec, children: { pipelines: ['x'] }, actions } as unknown as PipelineSpec;

  test('has the deploys alone, each after those that come after it in the file, without soaks and children', () => {
    const reversed = undeploySpec(spec, ['network', 'service', 'other']);
    const needs = Object.entries(reversed.actions).map(([name, action]) => [name, action.needs]);
    expect(Object.fromEntries(needs)).toEqual({ network: ['service'], service: [], other: [] });
    expect(reversed).not.toHaveProperty('children');
    expect(reversed.actions['network']).toMatchObject({ type: 'deploy', soak: undefined });
  });

  test('has only deploys that were deployed', () => {
    expect(Object.keys(undeploySpec(spec, ['network']).actions)).toEqual(['network']);
    expect(undeploySpec(spec, ['network']).actions['network']?.needs).toEqual([]);
    const [release] = asked.active;
    expect(Object.keys(buildReleaseInput(asked, release!).spec.actions)).toEqual(['deploy']);
  });
});
