import { allowJoined } from '../../activities/fleetAccess';
import type { DeployCall, PushPorts } from '../../activities/pushCalls';
import type { Unit } from '../../domain/fleet/unit';
import { facts } from '../builders/accessWorld';

/** `web-eu` is protected by its name, and joins a deploy of `web-us` after it was planned. */
const platform = facts({
  admins: ['user:root'],
  services: [{ pushType: 'twine', units: ['*'], owners: ['group:web'] }],
  protection: [{ services: [{ pushType: 'twine', units: ['web-eu'] }], approvals: { count: 1, by: ['user:sam'] } }],
});

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
