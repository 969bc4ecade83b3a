import { admit } from '../../../domain/pipeline/admission';
import { recordDeploy, recordRelease } from '../../../domain/pipeline/recordOutcome';
import { withSpec } from '../../../domain/pipeline/specChange';
import { recordReplacement } from '../../../domain/pipeline/replacement';
import { buildReleaseInput } from '../../../domain/pipeline/releaseInput';
import { refuseRollBack } from '../../../domain/pipeline/requests';
import { findRestoredDeploys, findRollbackArtifacts, queueRollback } from '../../../domain/pipeline/rollback';
import type { PipelineState } from '../../../domain/pipeline/state';
import { pipelineDetails, pipelineStatus } from '../../../domain/pipeline/view';
import { artifact, deployed, NOW, pipelineOf, resultOf, running } from '../../builders/pipelineWorld';

const ships = (state: PipelineState, version: string, ...actions: string[]): PipelineState => {
  const deploys = (actions.length > 0 ? actions : ['deploy']).map((action) =>
    deployed(action, 'succeeded', artifact(version)),
  );
  return recordRelease(
    running(state, artifact(version)),
    resultOf(state.nextNumber, deploys, [artifact(version)]),
    NOW,
  );
};
const HOTFIX = {
  by: 'hotfix/1',
  version: 'kv:9',
  at: new Date(NOW).toISOString(),
  artifacts: [artifact('kv:9', 'binary')],
};
const hotfixed = (
  state: PipelineState,
  release: number,
  action = 'deploy',
  by: object | null = HOTFIX,
): PipelineState =>
  recordReplacement(state, { pipeline: 'kvstore', action, release, by: by as typeof HOTFIX | null }, NOW);
const back = (state: PipelineState, of: number) => {
  const found = findRollbackArtifacts(state, of);
  return 'impossible' in found ? found.impossible : found.map(({ version }) => version).join();
};
const inProduction = (state: PipelineState, action = 'deploy') => pipelineStatus(state, NOW).lastGood[action];
const alice = { actor: 'user:alice', reason: '' };

const two = ships(ships(pipelineOf(), 'kv:1'), 'kv:2');

describe('versions that another pipeline has replaced', () => {
  test('is not reverted: the refusal says what runs now, and how to bring something else all the same', () => {
    expect(refuseRollBack(hotfixed(two, 2), 2, alice)).toEqual({
      code: 'invalid-state',
      message:
        'hotfix/1 is what runs now (kv:9); revert that one, or say what is to run instead: ' +
        'conveyor push kvstore deploy -a executable=kv:1 --emergency --reason "…"',
    });
  });

  test('is shown with what runs now', () => {
    const replacedBy = { by: 'hotfix/1', version: 'kv:9' };
    expect(inProduction(hotfixed(two, 2))).toEqual({ release: 2, version: 'kv:2', replaced: replacedBy });
    const details = pipelineDetails(hotfixed(two, 2), NOW);
    expect(details).toContain('deploy: `kv:9`, brought by hotfix/1');
    expect(details).toMatch(/^ *2 .*replaced by hotfix\/1$/m);
    expect(details.match(/replaced by/g)).toHaveLength(1);
  });

  test('can be reverted once it runs again', () => {
    const again = hotfixed(hotfixed(two, 2), 2, 'deploy', null);
    expect([back(again, 2), inProduction(again)]).toEqual(['kv:1', { release: 2, version: 'kv:2' }]);
  });

  test('in part goes back where it still runs', () => {
    const partly = hotfixed(two, 2, 'deploy', { ...HOTFIX, on: 'kvstore-x' });
    expect(back(partly, 2)).toBe('kv:1');
    expect(inProduction(partly)?.replaced).toEqual({ by: 'hotfix/1', version: 'kv:9', on: 'kvstore-x' });
  });

  test('in one of its actions goes back in the others', () => {
    const both = ['x', 'y'];
    const state = ships(ships(pipelineOf(both), 'kv:1', ...both), 'kv:2', ...both);
    expect(back(hotfixed(state, 2, 'x'), 2)).toBe('kv:1');
    expect(back(hotfixed(hotfixed(state, 2, 'x'), 2, 'y'), 2)).toMatch(/^hotfix\/1 is what runs now/);
  });

  test('is shown so also where the notice comes before the end of its own release', () => {
    const early = hotfixed(running(two, artifact('kv:3')), 3);
    expect(inProduction(early)).toEqual({ release: 2, version: 'kv:2' });
    const booked = recordDeploy(early, 3, deployed('deploy', 'succeeded', artifact('kv:3')), NOW);
    expect(inProduction(booked)).toMatchObject({ release: 3, replaced: { by: 'hotfix/1' } });
  });
});

test('a notice of an older release, from the lock of a former service, changes no records', () => {
  expect(hotfixed(two, 1)).toEqual(two);
});

test('a release over the work of another pipeline goes back to that work, once', () => {
  const over = ships(hotfixed(two, 2), 'kv:3');
  expect(back(over, 3)).toBe('kv:9');
  const found = findRollbackArtifacts(over, 3);
  if ('impossible' in found) throw new Error(found.impossible);
  const undone = queueRollback(over, found, { of: 3, ...alice, notBad: false }, NOW);
  expect(undone.knownBad.map((bad) => bad.artifact)).toEqual(['executable@kv:3']);
  expect(inProduction(undone)?.replaced?.by).toBe('hotfix/1');
});

describe('the records of an action', () => {
  const renamed = (state: PipelineState, ...names: string[]) => withSpec(state, pipelineOf(names).spec);

  test('follow it to another name, so that a revert goes back past the renaming', () =>
    expect(back(renamed(two, 'ship'), 2)).toBe('kv:1'));

  test('stay where nothing says which deploy has taken its place, and the refusal says so', () =>
    expect(back(renamed(two, 'here', 'there'), 2)).toMatch(
      /^it was deployed by deploy, which the pipeline file no longer has: apply a file with that deploy/,
    ));
});

test('a release whose end is on its way to its pipeline is not said to be what does not run', () =>
  expect(back(running(two, artifact('kv:3')), 3)).toBe('its end is being recorded: ask again'));

test('a rollback goes to the units that its own deploy held, also once another pipeline has been there', () => {
  const [own] = two.good['deploy'] ?? [];
  const held = { units: ['kvstore-x'] } as never;
  const brought = { ...own, artifacts: [], by: 'hotfix/1' } as never;
  const state = { ...two, good: { deploy: [{ ...own, held } as never, brought] } };
  expect(findRestoredDeploys(state, [artifact('kv:1')])).toEqual({ deploy: { held } });
});

test('a rollback to what another pipeline had brought restores the units of its own deploy before that', () => {
  const held = { ids: ['kvstore-x'] };
  const [own, ...later] = hotfixed(two, 2).good['deploy']!.slice(1);
  const good = { deploy: [{ ...own!, held }, ...later] };
  expect(findRestoredDeploys({ ...two, good }, [artifact('kv:9')])).toEqual({ deploy: { held } });
});

describe('units that another pipeline has removed', () => {
  const REMOVED = { by: 'hotfix/2', version: 'nothing', at: new Date(NOW).toISOString(), artifacts: [], removed: true };
  const gone = hotfixed(two, 2, 'deploy', REMOVED);
  /** The deploys of the rollback of a release. */
  const rollsBack = (state: PipelineState, of: number): string[] => {
    const found = findRollbackArtifacts(state, of);
    if ('impossible' in found) return [found.impossible];
    const queued = queueRollback(state, found, { of, actor: 'user:alice', reason: '', notBad: false }, NOW);
    const release = queued.active.at(-1);
    return release ? Object.keys(buildReleaseInput(queued, release).spec.actions) : [];
  };

  test('run nothing that could be reverted, and the refusal says how a version comes back', () => {
    expect(refuseRollBack(gone, 2, alice)?.message).toBe(
      'hotfix/2 has removed the units, so nothing of it runs: release the version that should run with conveyor release kvstore',
    );
    const replaced = { by: 'hotfix/2', version: 'nothing', removed: true };
    expect(inProduction(gone)).toEqual({ release: 2, version: 'kv:2', replaced });
    expect(pipelineDetails(gone, NOW)).toContain(
      'deploy: `nothing`, removed by hotfix/2; release 2 had brought `kv:2`',
    );
  });

  test('are no version for units that run several to go back to', () => {
    const ready = { release: 3, action: 'deploy', artifacts: [artifact('kv:3')], rollback: false } as const;
    const next = { ...running(gone, artifact('kv:3')), ready: [ready] };
    expect(admit(next, NOW).decisions).toMatchObject([{ admission: { kind: 'granted', lastGood: null } }]);
  });

  test('run something again after the next release, whose revert brings back the last version before', () => {
    const state = ships(gone, 'kv:3');
    expect(inProduction(state)).toEqual({ release: 3, version: 'kv:3' });
    expect(back(state, 3)).toBe('kv:2');
    expect(rollsBack(state, 3)).toEqual(['deploy']);
  });

  test('are taken back if the next release failed on its way', () => {
    const failed = recordRelease(
      running(gone, artifact('kv:3')),
      resultOf(3, [deployed('deploy', 'failed', artifact('kv:3'))], [artifact('kv:3')]),
      NOW,
    );
    expect([back(failed, 3), rollsBack(failed, 3)]).toEqual(['kv:2', ['deploy']]);
  });

  test('are left alone by a rollback of the other deploys of their release', () => {
    const both = ships(ships(pipelineOf(['deploy', 'other']), 'kv:1', 'deploy', 'other'), 'kv:2', 'deploy', 'other');
    expect(rollsBack(hotfixed(both, 2, 'deploy', REMOVED), 2)).toEqual(['other']);
  });

  test('are named if they are some of many, and the rest can be reverted', () => {
    const partly = hotfixed(two, 2, 'deploy', { ...REMOVED, on: 'kvstore-x' });
    expect(back(partly, 2)).toBe('kv:1');
    const replaced = { by: 'hotfix/2', version: 'nothing', on: 'kvstore-x', removed: true };
    expect(inProduction(partly)).toEqual({ release: 2, version: 'kv:2', replaced });
    expect(pipelineDetails(partly, NOW)).toContain('`nothing` on kvstore-x, removed by hotfix/2');
  });

  test('have no earlier versions to go back to', () => {
    const mixed = { ...two, inherited: { deploy: { left: ['kv:7'], before: { units: [] } } } };
    expect(hotfixed(mixed, 2, 'deploy', REMOVED).inherited).toEqual({});
    expect(hotfixed(mixed, 2, 'deploy', { ...REMOVED, on: 'kvstore-x' }).inherited).toEqual(mixed.inherited);
  });
});
