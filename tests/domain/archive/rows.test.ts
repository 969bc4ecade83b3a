import { deployRows, releaseRows, rowKey, type EndedDeploy, type EndedRelease } from '../../../domain/archive/rows';
import { bugIn } from '../../../domain/release/bugNotice';
import { hitWords } from '../../../features/bugs/domain/bug';
import { action, deploy, phase, release, revertedDeploy } from '../../builders/cliSamples';
import { letPass, through } from '../../builders/historyRows';

const RUN = { workflowId: 'release/kvstore/13', runId: 'r1', closedMs: Date.parse('2026-11-20T14:05:00Z') };
const HIT = hitWords({ id: 'bug/7', target: '//lib:rpc', from: '12', to: null, reason: 'it loses replies' } as never, {
  artifact: 'executable@kv:13',
  path: '//kv:server > //lib:rpc',
});

function endedRelease(status: Partial<EndedRelease['status']> = {}, more: Partial<EndedRelease> = {}): EndedRelease {
  const spec = { pipeline: 'kvstore', labels: { category: 'large' }, actions: { build: {}, deploy: {} } };
  return {
    ...RUN,
    input: { spec, trigger: { kind: 'manual', actor: 'user:alice', key: null } } as never,
    status: { ...release({ state: 'succeeded', endedAt: '2026-11-20T14:04:00.000Z' }), ...status },
    ...{ deploys: [], cadence: 'daily' },
    ...more,
  };
}

const endedDeploy = (status: Partial<EndedDeploy['status']> = {}, input: object = {}): EndedDeploy => ({
  ...{ ...RUN, workflowId: 'deploy/kvstore/13/deploy/1' },
  input: {
    ...{ pipeline: 'kvstore', release: 13, action: 'deploy', rollback: false, ...input },
    spec: { healthChecks: [{ name: 'errors', metric: 'rpc.error_ratio' }] },
  } as never,
  status: { ...revertedDeploy(), ...status },
});

describe('the rows of a release', () => {
  test('are the release, its actions and its commands, each under a key of its own', () => {
    const command = { at: '2026-11-20T14:03:00.000Z', verb: 'pause', actor: 'user:bob', reason: '', accepted: false };
    const rows = releaseRows(endedRelease({ commands: [command as never] }));
    expect(rows.map(({ kind, name, state }) => [kind, name, state])).toEqual([
      ['release', null, 'succeeded'],
      ['action', 'build', 'succeeded'],
      ['action', 'deploy', 'running'],
      ['action', 'publish', 'waiting'],
      ['command', 'pause', 'rejected'],
    ]);
    expect(new Set(rows.map(({ key }) => key)).size).toBe(5);
    expect(rows[0]).toMatchObject({ key: rowKey(RUN), category: 'large', cadence: 'daily', parts: 2 });
    expect(rows[0]?.endedMs).toBe(Date.parse('2026-11-20T14:04:00Z'));
  });

  test('end when Temporal closed it, where it did not say so', () => {
    expect(releaseRows(endedRelease({ endedAt: null }))[0]?.endedMs).toBe(RUN.closedMs);
  });

  test('say which action failed first', () => {
    const actions = [action({ state: 'succeeded' }), action({ name: 'soak', type: 'canary', state: 'failed' })];
    expect(releaseRows(endedRelease({ state: 'failed', actions }))[0]?.type).toBe('canary');
  });

  test('say which bug ended it: by the command that cancelled it, or by an action that was not let begin', () => {
    expect(bugIn(HIT)).toBe('bug/7');
    const command = { at: '2026-11-20T14:03:00.000Z', verb: 'cancel', actor: 'system', reason: HIT, accepted: true };
    const cancelled = { state: 'cancelled', cause: 'bad-package' } as const;
    expect(releaseRows(endedRelease({ ...cancelled, commands: [command as never] }))[0]?.name).toBe('bug/7');
    const actions = [action({ state: 'cancelled', message: HIT })];
    expect(releaseRows(endedRelease({ ...cancelled, actions }))[0]?.name).toBe('bug/7');
    const bad = [action({ state: 'cancelled', message: 'executable@kv:13 is known to be bad: bug/7 in docs' })];
    expect(releaseRows(endedRelease({ ...cancelled, actions: bad }))[0]?.name).toBeNull();
  });

  test('keep how its deploys went, for the errors of checks, and nothing of one that deployed nothing', () => {
    const deploys = [{ action: 'deploy', result: through('kv:13', letPass('errors')) }] as never;
    const [row] = releaseRows(endedRelease({}, { deploys }));
    expect(JSON.parse(row?.detail ?? '')).toMatchObject({ id: 'kvstore/13', deploys: [{ overridden: [{}] }] });
    expect(releaseRows(endedRelease())[0]?.detail).toBeNull();
  });
});

describe('the rows of a deploy', () => {
  test('are the deploy, the phases that it reached, and each unhealthy check once', () => {
    const [errors] = revertedDeploy().health;
    const health = errors ? [errors, { ...errors, unit: 'kvstore-y' }, { ...errors, verdict: 'healthy' as const }] : [];
    const rows = deployRows(endedDeploy({ health, pattern: 'super-linear' }));
    expect(rows.map(({ kind, name, type, state }) => [kind, name, type, state])).toEqual([
      ['deploy', 'deploy', 'twine', 'reverted'],
      ['phase', 'first', null, 'reverted'],
      ['check', 'errors', 'rpc', 'unhealthy'],
    ]);
    expect(rows[0]).toMatchObject({ classification: 'good-failure', cause: null, pattern: 'super-linear' });
  });

  test('say what a bad failure failed by', () => {
    const failed = { outcome: 'cancelled', classification: 'bad-failure', blame: 'push type twine' } as const;
    expect(deployRows(endedDeploy(failed))[0]).toMatchObject({ state: 'cancelled', cause: 'push type twine' });
  });

  test.each([{ rollback: true }, { followOn: { units: ['kvstore-x'] } }])(
    'have no pattern where %p made it one phase, whatever its pipeline says',
    (input) => expect(deployRows(endedDeploy({ pattern: 'single' }, input))[0]?.pattern).toBeNull(),
  );

  test('have the time of a revert only where there was one', () => {
    expect(deployRows(endedDeploy())[0]?.revertMs).toBe(0);
    const [row, ...rest] = deployRows(endedDeploy({ ...deploy({ outcome: 'succeeded' }), health: [] }));
    expect([row?.revertMs, rest.map(({ kind }) => kind)]).toEqual([null, ['phase']]);
  });

  test('have nothing of a phase that it did not reach', () => {
    expect(deployRows(endedDeploy({ phases: [phase()], health: [] }))).toHaveLength(1);
  });
});
