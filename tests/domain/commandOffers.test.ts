import {
  formatCommandLine,
  listDeployOffers,
  listPipelineOffers,
  listReleaseOffers,
  type OfferedCommand,
} from '../../domain/commandOffers';
import type { ReleaseStatus } from '../../domain/views';
import { action, children, deploy, pipeline, release, revertedDeploy } from '../builders/cliSamples';
import { baking, busyPipeline, running } from '../builders/pageWorld';

const OWN = { pause: 'the release waits', resume: 'the release continues', cancel: 'it ends', revert: 'all goes back' };
const lines = (offers: readonly OfferedCommand[]): string[] =>
  offers.map((offer) => formatCommandLine(offer).replace(/^conveyor | --reason .*/g, ''));
const deploying = action({
  name: 'deploy',
  type: 'deploy',
  state: 'running',
  endedAt: null,
  deploy: 'kvstore/13/deploy',
});
const ended = (over: Partial<ReleaseStatus>): ReleaseStatus =>
  release({
    ...{ state: 'succeeded', endedAt: '2026-11-20T14:02:08.000Z' },
    actions: [{ ...deploying, state: 'succeeded', endedAt: '2026-11-20T14:02:08.000Z' }],
    ...over,
  });

describe('the commands of a release', () => {
  test('go to its only running deploy, as those of the command line do', () => {
    const given = release({ actions: [deploying], accepts: OWN });
    const offers = listReleaseOffers(given, [
      deploy({ accepts: { pause: 'no further update', revert: 'tasks go back' } }),
    ]);
    expect(lines(offers)).toEqual(['pause kvstore/13/deploy', 'revert kvstore/13/deploy']);
  });

  test('go to the release while it is paused, has several actions at work, or has deployed', () => {
    const only = deploy({ accepts: { pause: 'no further update', revert: 'tasks go back' } });
    const paused = release({ state: 'paused', actions: [deploying], accepts: { resume: OWN.resume } });
    expect(lines(listReleaseOffers(paused, [only]))).toContain('resume kvstore/13');
    const busy = release({
      actions: [deploying, action({ name: 'test', state: 'running', endedAt: null })],
      accepts: OWN,
    });
    expect(lines(listReleaseOffers(busy, [only]))).toContain('pause kvstore/13');
    const before = action({ name: 'canary', type: 'deploy', deploy: 'kvstore/13/canary' });
    const later = release({ actions: [before, deploying], accepts: OWN });
    expect(lines(listReleaseOffers(later, [only]))).toEqual(['revert kvstore/13', 'pause kvstore/13/deploy']);
  });

  test('decide a pick both ways, and retry an action that failed', () => {
    const failed = action({ name: 'test', state: 'failed', accepts: { retry: 'it starts again' } });
    const given = { ...baking(), actions: [...baking().actions, failed] };
    expect(lines(listReleaseOffers(given, [running()])).slice(0, 3)).toEqual([
      'pick kvstore/13/approve --approve',
      'pick kvstore/13/approve --reject',
      'retry kvstore/13/test',
    ]);
  });

  test.each<[string, ReleaseStatus, readonly string[]]>([
    ['in the queue is a cancel', release({ state: 'queued', actions: [] }), ['cancel kvstore/13']],
    ['that has deployed is a rollback', ended({}), ['revert kvstore/13']],
    ['that is undone is none', ended({ undone: { by: 'kvstore/14', at: null } }), []],
    ['that deployed nothing is none', ended({ state: 'failed', actions: [action({ state: 'failed' })] }), []],
    ['whose children run cancels those', ended({ actions: [], children: children() }), ['cancel kvstore/13']],
  ])('%s', (_name, given, expected) => {
    expect(lines(listReleaseOffers(given, []))).toEqual(expected);
  });
});

test.each<[string, Partial<ReleaseStatus>, readonly number[], boolean]>([
  ['failed, and that its pipeline would run again', {}, [13], true],
  ['failed, but that its pipeline would not run again', {}, [12], false],
  ['succeeded', { state: 'succeeded' }, [13], false],
])('a release that %s has a rerun accordingly', (_name, over, rerunnable, isOffered) => {
  const given = ended({ state: 'failed', actions: [action({ state: 'failed' })], ...over });
  expect(lines(listReleaseOffers(given, [], { rerunnable })).includes('rerun kvstore/13')).toBe(isOffered);
});

test('the commands of a deploy name the phase that a person sees', () => {
  expect(lines(listDeployOffers(running()))).toEqual([
    ...['pause', 'cancel', 'revert'].map((verb) => `${verb} kvstore/13/deploy`),
    ...['skip-phase', 'skip-bake'].map((verb) => `${verb} kvstore/13/deploy --phase half`),
    'skip-health-check kvstore/13/deploy',
  ]);
});

test('a deploy that has ended can be undone only if it succeeded and is not undone', () => {
  const succeeded = deploy({ state: 'ended', outcome: 'succeeded' });
  expect(lines(listDeployOffers(succeeded))).toEqual(['revert kvstore/13/deploy']);
  expect(listDeployOffers({ ...succeeded, undone: { by: 'kvstore/14', at: null } })).toEqual([]);
  expect(listDeployOffers(revertedDeploy())).toEqual([]);
});

test('the commands of a pipeline name each known-bad artifact, and each user of its offers', () => {
  expect(lines(listPipelineOffers(busyPipeline()))).toEqual([
    ...[
      'release kvstore',
      'unhold kvstore',
      'freeze kvstore',
      'allow-artifact kvstore executable@kv:11',
      'undeploy kvstore',
    ],
    'end-use kvstore shop/deploy',
  ]);
  expect(listPipelineOffers(pipeline())).toEqual([]);
});
