import { allowApproved, allowJoined } from '../../activities/fleetAccess';
import type { DeployCall, PushPorts } from '../../activities/pushCalls';
import type { Unit } from '../../domain/fleet/unit';
import { facts } from '../builders/accessWorld';

/** Sam approves what goes to `web-eu`, which joins a deploy of `web-us`. */
const platformWanting = (requires: object = {}) =>
  facts({
    admins: ['user:root'],
    services: [{ pushType: 'twine', units: ['*'], owners: ['group:web'] }],
    protection: [
      {
        services: [{ pushType: 'twine', units: ['web-eu'] }],
        ...{ approvals: { count: 1, by: ['user:sam', 'user:alice'] }, requires },
      },
    ],
  });
const platform = platformWanting();

const joins = (more: Partial<DeployCall>, held: readonly string[] = []): Promise<void> =>
  allowJoined(
    { platform: () => platform } as PushPorts,
    { pipeline: 'web-side', pushType: 'twine', owners: ['group:web'], ...more } as DeployCall,
    { joined: [{ id: 'web-eu' } as Unit], before: [{ id: 'web-us' } as Unit] },
    { held: { ids: held } },
  );

test('a unit that a rule protects does not join a deploy that was let through without it', async () => {
  await expect(joins({})).rejects.toThrow('protects twine/web-eu');
  await expect(joins({ imported: true, back: true }, ['web-eu'])).rejects.toThrow('protects twine/web-eu');
});

test('it joins a rollback that held it, and what an admin brings in an emergency', async () => {
  await expect(joins({ back: true }, ['web-us', 'web-eu'])).resolves.toBeUndefined();
  await expect(joins({ byAdmin: true })).resolves.toBeUndefined();
});

describe('the plan after approvals', () => {
  const plan = (
    units: readonly string[],
    by: readonly string[] = [],
    checks: readonly string[] = [],
    kind: 'manual' | 'undeploy' = 'manual',
  ) =>
    allowApproved(
      { platform: () => platformWanting({ checks: ['errors'] }) } as PushPorts,
      { pipeline: 'web-side', pushType: 'twine' } as DeployCall,
      units.map((id) => ({ id }) as Unit),
      {
        ...{ pipeline: 'web-side', kind, askedBy: ['user:alice'], approvals: by.map((actor) => ({ actor })) },
        action: { ...{ name: 'deploy', type: 'deploy', soakMs: 0, hasWindow: false, emergencyApprovals: 1 }, checks },
      },
    );

  test('goes to no unit under a rule that it lacks something of: a check, or an approval', async () => {
    await expect(plan(['web-us', 'web-eu'])).rejects.toThrow(
      'platform.protection.0 protects web-side: deploy has no check errors; apply that, and release again',
    );
    await expect(plan(['web-us', 'web-eu'], [], ['errors'])).rejects.toThrow(
      'platform.protection.0 wants 1 approval of what goes to twine/web-eu, and this release has 0: release it again',
    );
    await expect(plan(['web-us'])).resolves.toBeUndefined();
  });

  test('removes no unit under a rule before that many people have approved it, and needs no check for that', async () => {
    const removal = (by: readonly string[]) => plan(['web-us', 'web-eu'], by, [], 'undeploy');
    await expect(removal(['user:alice'])).rejects.toThrow(
      'platform.protection.0 wants 1 approval of the removal of twine/web-eu, and this release has 0: undeploy again',
    );
    await expect(removal(['user:sam'])).resolves.toBeUndefined();
  });

  test('goes to a person who joined since, if that many people other than the requester have approved it', async () => {
    await expect(plan(['web-eu'], ['user:sam'], ['errors'])).resolves.toBeUndefined();
    await expect(plan(['web-eu'], ['user:alice'], ['errors'])).rejects.toThrow('this release has 0');
  });
});
