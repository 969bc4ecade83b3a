import type { PlatformPolicy } from '../../../domain/access/platform';
import { describeAccount } from '../../../domain/sessions/account';
import type { Session } from '../../../domain/sessions/session';

const POLICY: PlatformPolicy = {
  admins: ['group:platform'],
  pipelines: [{ names: ['storage-*'], creators: ['group:storage'], parents: [] }],
  services: [{ pushType: 'twine', units: ['kvstore-*'], owners: ['user:bob'] }],
  uses: [{ kind: 'mutex', names: ['region-*'], by: ['user:alice'] }],
  scripts: [],
  bugs: ['group:sre'],
  protection: [
    {
      ...{ pipelines: ['prod-*'], services: [{ pushType: 'twine', units: ['prod-*'] }], emergency: null, signed: null },
      approvals: { count: 1, by: ['group:sre'] },
      requires: { checks: [], soak: 0, windows: false },
    },
  ],
};
const AT = Date.parse('2026-11-20T12:00:00Z');
const ALICE: Session = {
  ...{ id: 's1', principal: 'user:alice', groups: ['sre', 'storage'], after: null },
  proof: { kind: 'oidc', entry: 'e', refreshToken: 'secret' },
  ...{ signedInAtMs: AT, confirmedAtMs: AT + 60_000, untilMs: AT + 3_600_000 },
};
const GROUPS = { storage: ['user:alice'], platform: ['user:root'] };
const account = describeAccount({ policy: POLICY, groups: GROUPS }, ALICE);

test('people see in which groups they are, and who says so', () =>
  expect(account.groups).toEqual([
    { name: 'group:sre', from: ['provider'] },
    { name: 'group:storage', from: ['settings', 'provider'] },
  ]));

test('people see every rule, those that apply to them first, with the group through which they apply', () =>
  expect(account.rules.map(({ place, applies, through }) => [place, applies, through])).toEqual([
    ['platform.pipelines.0.creators', true, 'group:storage'],
    ['platform.uses.0.by', true, null],
    ['platform.bugs.by', true, 'group:sre'],
    ['platform.protection.0.approvals.by', true, 'group:sre'],
    ['platform.admins', false, null],
    ['platform.services.0.owners', false, null],
  ]));

test('a rule says in words what it permits', () =>
  expect(account.rules.map(({ gives }) => gives)).toEqual([
    'create, apply, import and retire own pipelines called storage-*',
    'use mutex/region-* in own pipelines',
    'report and close bugs',
    'approve releases of others of prod-*, twine/prod-*',
    'do everything, on record',
    'deploy to twine/kvstore-*, and evict deploys of others there',
  ]));

test('decisions about the platform as a whole come from the same rules as refusals', () =>
  expect(account.decisions).toMatchObject([
    { operation: 'read', decision: { allowed: true } },
    {
      operation: 'read-audit',
      decision: { allowed: false, why: expect.stringContaining('platform.admins') as string },
    },
    { operation: 'report-bug', decision: { allowed: true, by: 'platform.bugs.by', through: 'group:sre' } },
  ]));

test('the session is described without its secrets', () => {
  expect(account.session).toEqual({
    by: 'the identity provider',
    signedInAt: '2026-11-20T12:00:00.000Z',
    confirmedAt: '2026-11-20T12:01:00.000Z',
    until: '2026-11-20T13:00:00.000Z',
  });
  expect(JSON.stringify(account)).not.toMatch(/secret|s1/);
});

test('without a platform section there are no rules to show', () =>
  expect(describeAccount({ policy: null, groups: {} }, ALICE).rules).toEqual([]));
