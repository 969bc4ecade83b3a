import { decideBirth } from '../../../domain/access/children';
import { matches } from '../../../domain/pattern';
import { decideDeploy, decideRollback, decideUse, decideUses } from '../../../domain/access/usage';
import { asked, CONFIG, facts, why } from '../../builders/accessWorld';
import { specOf } from '../../builders/pipelineWorld';
import { signer } from '../../builders/signing';

const STORAGE = ['group:storage'];

describe('patterns', () => {
  test.each([
    ['kvstore', 'kvstore', true],
    ['kvstore', 'kvstore-2', false],
    ['storage-*', 'storage-', true],
    ['storage-*', 'my-storage-x', false],
    ['*', '', true],
    ['*-prod', 'kv-prod', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-c-b-c', true],
    ['a*b*b', 'ab', false],
    ['a.c', 'abc', false],
    ['**', 'x', true],
  ])('%s fits %s: %s', (pattern, name, fits) => {
    expect(matches(pattern, name)).toBe(fits);
  });
});

describe('a rollback to units that a rule protects', () => {
  /** With one rule about `prod-kv-*`. */
  const back = (rule: object, held: string[], units: string[], pipelines: string[] = []) => {
    const services = [{ pushType: 'twine', units: ['prod-kv-*'] }];
    const all = facts({
      ...{ admins: ['user:root'], services: [{ pushType: 'twine', units: ['*'], owners: STORAGE }] },
      ...{ keys: { ci: signer().pem }, protection: [{ pipelines, services, ...rule }] },
    });
    return why(decideRollback(all, STORAGE, { pipeline: 'kv-side', pushType: 'twine', units }, held));
  };
  const approvals = { approvals: { count: 1, by: ['user:sam'] } };
  const refused =
    'platform.protection.0 protects twine/prod-kv-x, and nothing that kv-side is known to have brought this version to: release it there';

  test.each<[string, object]>([
    ['approvals', approvals],
    ['a check', { requires: { checks: ['errors'] } }],
    ['a soak', { requires: { soak: '1h' } }],
    ['a window', { requires: { windows: true } }],
  ])('goes past no rule that wants %s, unless the version was under it before', (_what, rule) => {
    expect(back(rule, ['kv-side-x'], ['kv-side-x', 'prod-kv-x'])).toBe(refused);
    expect(back(rule, [], ['kv-side-x', 'prod-kv-x'])).toBe(refused);
    expect(back(rule, ['prod-kv-x'], ['prod-kv-x', 'prod-kv-y'])).toMatch(/^yes/);
    expect(back(rule, ['kv-side-x'], ['kv-side-x', 'kv-side-y'])).toMatch(/^yes/);
    expect(back(rule, [], [])).toMatch(/^yes/);
  });

  test('goes past what a rule wants of the pipeline itself, as every rollback does', () => {
    expect(back(approvals, [], ['prod-kv-x'], ['kv-*'])).toMatch(/^yes/);
  });

  test('is asked for a signature elsewhere, and an emergency is another thing', () => {
    expect(back({ signed: { by: ['ci'] } }, [], ['prod-kv-x'])).toMatch(/^yes/);
    expect(back({ emergency: false }, [], ['prod-kv-x'])).toMatch(/^yes/);
  });
});

describe('a unit of configuration with several paths', () => {
  const config = (units: string[]) =>
    facts({ ...CONFIG.platform, services: [{ pushType: 'config', units, owners: STORAGE }] });
  const may = (units: string[], unit: string): boolean =>
    decideDeploy(config(units), STORAGE, { pushType: 'config', units: [unit] }).allowed;

  test.each<[units: string[], unit: string, allowed: boolean]>([
    [['flags/feed*'], 'flags/feed:eu', true],
    [['flags/feed*'], 'flags/feed+payments:eu', false],
    [['flags/feed*'], 'flags/payments+feed:eu', false],
    [['flags/feed:*', 'flags/payments:*'], 'flags/feed+payments:eu', true],
    [['flags/feed:*'], 'flags/feedback:eu', false],
    [['flags/feed+payments:*'], 'flags/feed+payments:eu', true],
    [['flags/feed+payments:*'], 'flags/feed:eu', false],
    [['flags/*'], 'flags/a/b+payments:eu', true],
    [['*:eu'], 'flags/a+b:us', false],
  ])('rules for %j give %s: %s', (units, unit, allowed) => expect(may(units, unit)).toBe(allowed));
});

describe('roles', () => {
  test.each([
    ['user:alice', 'cancel', 'yes: owners of kvstore through group:storage'],
    ['user:root', 'cancel', 'yes: platform.admins through group:platform'],
    ['user:wendy', 'cancel', 'user:wendy is not an owner of kvstore: group:storage (user:alice, user:bob)'],
    [null, 'cancel', 'cancel needs an actor who is known: send a token'],
    [null, 'read', 'yes: everybody'],
    ['user:alice', 'submit', 'submit does not come in through the door command-line'],
    ['user:alice', 'deploy', 'deploy is what pipelines do, and no principal'],
  ] as const)('%s may %s: %s', (who, verb, answer) => {
    expect(why(asked(who, verb))).toBe(answer);
  });

  test('a group never acts, not even as the owner that it is', () => {
    const owned = { owners: STORAGE };
    expect(why(asked('group:storage', 'cancel', owned))).toMatch(/is a group, which never acts: come as one/);
    expect(why(asked('group:storage', 'cancel', owned, facts(null)))).toMatch(/is a group, which never acts/);
    expect(why(asked('group:platform', 'cancel', owned))).toMatch(/is a group, which never acts/);
  });

  test('a name takes a creator, and a pipeline that there is one of its owners besides', () => {
    const spec = specOf(['deploy'], { owners: ['user:alice'] });
    const named = (pipeline: string) => ({ pipeline, owners: null, spec: { ...spec, pipeline } });
    expect(why(asked('user:alice', 'create', named('storage-x')))).toBe(
      'yes: platform.pipelines.0.creators through group:storage',
    );
    expect(why(asked('user:alice', 'create', named('web-x')))).toBe(
      'user:alice may not create web-x: platform.pipelines.1 (web-*) lets group:web (user:wendy)',
    );
    expect(why(asked('user:alice', 'create', named('other')))).toBe(
      'user:alice may not create other: no rule of platform.pipelines is about that name; platform.admins are group:platform (user:root)',
    );
    expect(why(asked('user:bob', 'create', named('storage-x')))).toMatch(/^user:bob is not an owner of storage-x/);
    expect(why(asked('user:bob', 'apply', { owners: ['user:eve'] }))).toMatch(
      /^user:bob is not an owner of kvstore: user:eve/,
    );
    expect(why(asked('user:eve', 'retire', { owners: ['user:eve'] }))).toMatch(/^user:eve may not retire kvstore/);
  });

  test.each(['apply', 'import'] as const)(
    '%s leaves its actor an owner, so that an owner gains no rights of others through a pipeline',
    (verb) => {
      const mine = { pipeline: 'storage-x', owners: ['user:bob'] };
      const to = (owners: string[], who = 'user:bob') =>
        why(asked(who, verb, { ...mine, spec: specOf(['deploy'], { owners }) }));
      expect(to(['group:sre'])).toBe(
        'user:bob would be none of the new owners of storage-x: group:sre (user:sam, user:sue, user:alice); a pipeline may do what its owners may. ' +
          'Name user:bob as well, and one of them takes it over by applying it without user:bob',
      );
      expect(to(STORAGE)).toBe('yes: platform.pipelines.0.creators through group:storage');
      expect(to(['group:sre'], 'user:root')).toBe('yes: platform.admins through group:platform');
      // Until then it may do what both may.
      expect(
        decideDeploy(facts(), ['user:bob', 'group:sre'], { pushType: 'twine', units: ['kvstore-x'] }).allowed,
      ).toBe(false);
    },
  );

  test('without the section owners decide alone', () => {
    const spec = specOf(['deploy'], { owners: ['user:eve'] });
    expect(why(asked('user:eve', 'create', { owners: null, spec }, facts(null)))).toBe('yes: owners of kvstore');
    expect(why(asked('user:alice', 'cancel', {}, facts(null)))).toBe('yes: owners of kvstore through group:storage');
    expect(asked('user:root', 'cancel', {}, facts(null)).allowed).toBe(false);
    expect(decideUses(facts(null), spec)).toBeUndefined();
  });

  test('a service gets its units back: its owners may cancel and revert what holds them, and nothing else', () => {
    const holds = { pushType: 'twine', units: ['kvstore-x'] };
    const theirs = { owners: ['user:mallory'], holds };
    expect(why(asked('user:alice', 'cancel', theirs))).toBe('yes: platform.services.0.owners through group:storage');
    expect(asked('user:alice', 'revert', theirs).allowed).toBe(true);
    expect(asked('user:alice', 'resume', theirs).allowed).toBe(false);
    expect(asked('user:alice', 'cancel', { ...theirs, holds: { pushType: 'twine', units: ['web-x'] } }).allowed).toBe(
      false,
    );
    expect(why(asked('user:wendy', 'cancel', theirs))).toBe(
      'user:wendy is not an owner of kvstore: user:mallory, nor of what it holds: group:storage (user:alice, user:bob)',
    );
  });

  test('a pick belongs to the principals that it names', () => {
    const pick = { principals: ['group:web'], askedBy: ['user:alice'], approves: true };
    expect(why(asked('user:wendy', 'pick', { pick }))).toBe('yes: whom the pick names through group:web');
    expect(why(asked('user:alice', 'pick', { pick }))).toBe(
      'user:alice may not pick that: the pick names group:web (user:wendy)',
    );
    expect(asked('user:alice', 'pick').allowed).toBe(true);
  });
});

describe('resources of pipelines', () => {
  test('units are deployed by pipelines of which every owner owns the service', () => {
    const held = (...units: string[]) => ({ pushType: 'twine', units });
    const deploy = (owners: string[] | undefined, ...units: string[]) =>
      why(decideDeploy(facts(), owners, held(...units)));
    expect(deploy(STORAGE, 'kvstore-x', 'kvstore-y')).toBe('yes: platform.services.0.owners');
    expect(deploy(['user:alice', 'group:platform'], 'kvstore-x')).toMatch(/^yes/);
    expect(deploy(['user:mallory', 'group:storage'], 'kvstore-x')).toBe(
      'pipelines of user:mallory, group:storage may not deploy to twine/kvstore-x: platform.services.0 is for pipelines of group:storage (user:alice, user:bob)',
    );
    expect(deploy(STORAGE, 'kvstore-x', 'web-x')).toBe(
      'pipelines of group:storage may not deploy to twine/web-x: no rule of platform.services is about them',
    );
    expect(deploy(undefined, 'kvstore-x')).toMatch(/^pipelines of unknown owners .* may not deploy/);
    expect(deploy([], 'kvstore-x')).toMatch(/may not deploy/);
  });

  test('a group is covered by another that has all of its members, and one without members by none', () => {
    const use = (owner: string) => decideUse(facts(), [owner], { kind: 'mutex', name: 'region-x' }).allowed;
    expect([use('user:bob'), use('group:storage'), use('group:web'), use('group:sre'), use('group:none')]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test('a pipeline that would use what its owners may not is refused as it is applied, in words', () => {
    const applied = (more: object) =>
      why(asked('user:alice', 'apply', { spec: specOf(['deploy'], { owners: ['user:alice'], ...more }) }));
    expect(applied({})).toMatch(/^yes/);
    expect(applied({ mutex: { 'region-x': { scope: 'global' }, mine: {} } })).toMatch(/^yes/);
    expect(applied({ mutex: { prod: { scope: 'global' } } })).toBe(
      'pipelines of user:alice may not use the mutex prod: no rule of platform.uses is about it',
    );
    expect(applied({ artifacts: { x: { finder: 'commits', with: { repository: 'a', branch: 'b' } } } })).toMatch(
      /the artifact-finder commits/,
    );
    const script = { type: 'custom-script', with: { command: ['./x'] } };
    expect(applied({ actions: { script } })).toBe(
      'pipelines of user:alice may not run scripts: platform.scripts lets group:platform (user:root)',
    );
    const step = { undo: { command: ['./back'] }, service: 'drain' };
    const phases = [{ scope: '*', amount: 1, pre: [step] }];
    expect(applied({ actions: { deploy: { type: 'deploy', with: { pushType: 'twine', phases } } } })).toMatch(
      /the action-service drain/,
    );
    expect(applied({ actions: { deploy: { type: 'deploy', with: { pushType: 'other' } } } })).toMatch(
      /may not deploy with other/,
    );
  });

  test('a parent starts a child that names it, if the platform or the starter of the parent may', () => {
    const birth = {
      child: 'kvstore',
      owners: STORAGE,
      names: 'release-train',
      parent: 'release-train',
      startedBy: 'user:wendy',
    };
    const born = (more: object) => why(decideBirth(facts(), { ...birth, ...more }));
    expect(born({})).toBe('yes: platform.pipelines.0.parents');
    expect(born({ names: undefined })).toBe(
      'kvstore does not name release-train as its parent: labels: { parent: release-train }',
    );
    expect(born({ parent: 'other', names: 'other' })).toMatch(
      /^other may not start kvstore: .* user:wendy is not an owner of kvstore/,
    );
    expect(born({ parent: 'other', names: 'other', startedBy: 'user:bob' })).toBe(
      'yes: owners of kvstore through group:storage',
    );
    expect(born({ parent: 'other', names: 'other', startedBy: undefined })).toMatch(
      /whoever started it is not an owner/,
    );
  });
});

describe('protection that owners cannot remove', () => {
  const safe = specOf(['deploy'], {
    pipeline: 'prod-kv',
    owners: ['user:alice'],
    emergency: { approvals: 2 },
    actions: {
      deploy: {
        type: 'deploy',
        inputs: ['executable'],
        window: { days: ['mon'], from: '09:00', to: '17:00', timezone: 'UTC' },
        soak: { pipeline: 'staging', artifact: 'executable', for: '2h' },
        with: { pushType: 'twine', healthChecks: [{ name: 'errors', metric: 'm', threshold: { above: 1 } }] },
      },
    },
  });
  const prod = (spec = safe) => ({ pipeline: 'prod-kv', owners: ['user:alice'], spec });

  test('a pipeline that meets the demands is applied and released', () => {
    expect(why(asked('user:alice', 'apply', prod()))).toMatch(/^yes/);
    expect(why(asked('user:alice', 'release', prod()))).toMatch(/^yes/);
  });

  test('one that has it no more is refused, also where the rule came after the pipeline', () => {
    const bare = specOf(['deploy'], { pipeline: 'prod-kv', owners: ['user:alice'] });
    const lacks =
      'platform.protection.0 protects prod-kv: emergency needs 2 approvals and has 0; deploy has no check errors; deploy soaks for 0ms and not 1h; deploy has no window';
    for (const verb of ['create', 'apply', 'release', 'rerun', 'push'] as const)
      expect(why(asked('user:alice', verb, prod(bare)))).toBe(lacks);
    for (const owners of [STORAGE, null])
      expect(why(asked('user:alice', 'import', { ...prod(bare), owners }))).toBe(
        'platform.protection.0 protects prod-kv, and records say what ran: import is for admins',
      );
    expect(asked('user:alice', 'cancel', prod(bare)).allowed).toBe(true);
    expect(asked('user:alice', 'revert', prod(bare)).allowed).toBe(true);
    expect(asked('user:root', 'apply', prod(bare)).allowed).toBe(true);
  });

  test.each(['skip-health-check', 'skip-bake', 'skip-phase', 'skip-window'] as const)('%s is for admins', (verb) => {
    expect(why(asked('user:alice', verb, prod()))).toMatch(/^platform.protection.0 requires .* is for admins$/);
    expect(asked('user:root', verb, prod()).allowed).toBe(true);
    expect(asked('user:alice', verb).allowed).toBe(true);
  });

  test('approvals come from the stated groups, and never from the requester', () => {
    const pick = { principals: [], askedBy: ['user:alice'], approves: true };
    const approved = (who: string, more: object = {}) =>
      why(asked(who, 'pick', { ...prod(), owners: ['user:alice', 'user:bob'], pick: { ...pick, ...more } }));
    expect(approved('user:alice')).toBe('platform.protection.0 wants a second person: user:alice started it');
    expect(approved('user:bob')).toBe(
      'platform.protection.0 lets only these approve: group:sre (user:sam, user:sue, user:alice)',
    );
    expect(approved('user:alice', { askedBy: ['user:bob'] })).toMatch(/^yes/);
    expect(approved('user:bob', { approves: false })).toMatch(/^yes/);
    expect(approved('user:root', { askedBy: ['user:root'] })).toMatch(/wants a second person/);
    expect(approved('user:root')).toMatch(/^yes/);
  });

  test('approvers of the stated groups need not be owners of the pipeline', () => {
    const pick = { principals: [], askedBy: ['user:alice'], approves: true };
    expect(why(asked('user:sam', 'pick', { ...prod(), pick }))).toBe(
      'yes: platform.protection.0.approvals.by through group:sre',
    );
  });

  test('an emergency is not refused for people who are in a group that only an identity provider knows', () => {
    const approvals = { count: 1, by: ['group:oncall'] };
    const spec = specOf(['deploy'], { pipeline: 'prod-kv', emergency: { approvals: 1 } });
    const policy = facts({ ...CONFIG.platform, protection: [{ pipelines: ['prod-*'], approvals }] });
    expect(why(asked('user:alice', 'push', { pipeline: 'prod-kv', spec }, policy))).toMatch(/^yes/);
    const nobody = { ...policy, groups: { ...policy.groups, oncall: [] } };
    expect(why(asked('user:alice', 'push', { pipeline: 'prod-kv', spec }, nobody))).toMatch(/there are 0 who may/);
    // The requester is in it, which implies nothing for others.
    const joined = { ...policy, groups: { ...policy.groups, oncall: ['user:alice'] }, configured: policy.groups };
    expect(why(asked('user:alice', 'push', { pipeline: 'prod-kv', spec }, joined))).toMatch(/^yes/);
  });

  test('an emergency may be forbidden, or take more people than there are', () => {
    const rule = { pipelines: ['prod-*'], emergency: false };
    const none = facts({ admins: ['user:root'], protection: [rule] });
    expect(why(asked('user:alice', 'push', prod(), none))).toBe(
      'platform.protection.0 forbids emergency pushes of prod-kv except by admins',
    );
    const many = facts({
      admins: ['user:root'],
      protection: [{ ...rule, emergency: { approvals: 3 }, approvals: { count: 1, by: ['group:sre'] } }],
    });
    expect(why(asked('user:alice', 'push', prod(), many))).toMatch(
      /wants 3 approvals, and besides user:alice there are 2/,
    );
    expect(why(asked('user:alice', 'push', { ...prod(), skipBake: true }))).toMatch(/so an emergency bakes as well/);
    expect(why(asked('user:alice', 'push', prod()))).toMatch(/^yes/);
  });
});
