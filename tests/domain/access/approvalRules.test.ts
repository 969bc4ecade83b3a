import { approvalStatus, type ApprovalAsk } from '../../../domain/access/approvals';
import { listApprovals, approvalWords, whyNotApprove } from '../../../domain/release/approval';
import { RELEASE_FREE, takeRelease } from '../../../domain/release/control';
import type { ApprovalView } from '../../../domain/views';
import { CONFIG, facts } from '../../builders/accessWorld';
import { artifact, specOf } from '../../builders/pipelineWorld';
import type { Actions } from '../../workflows/flows';

const by = (...actors: string[]) => ({ approvals: actors.map((actor) => ({ actor })) });
const ask = (more: Partial<ApprovalAsk> = {}): ApprovalAsk => ({
  ...{ pipeline: 'prod-kv', kind: 'manual', askedBy: ['user:alice'], approvals: [], ...more },
});
const rules = (...protection: object[]) => facts({ admins: ['user:root'], protection });
const prod = (more: object) => ({ pipelines: ['prod-*'], ...more });

describe('a release that a rule protects', () => {
  test.each<[string, string[], boolean]>([
    ['has nobody', [], false],
    ['has one', ['user:sam'], false],
    ['has two', ['user:sam', 'user:sue'], true],
    ['has the same person twice', ['user:sam', 'user:sam'], false],
    ['has who asked for it', ['user:sam', 'user:alice'], false],
    ['has an owner who is in no group of the rule', ['user:sam', 'user:bob'], false],
    ['has an admin, who is one person', ['user:root', 'user:sam'], true],
    ['has one admin alone', ['user:root'], false],
  ])('%s: %s lets it continue: %s', (_title, actors, met) => {
    expect(approvalStatus(facts(), ask(by(...actors))).met).toBe(met);
  });

  test('a former member of the group approves nothing', () => {
    const left = { ...facts(), groups: { ...facts().groups, sre: ['user:sam'] } };
    expect(approvalStatus(left, ask(by('user:sam', 'user:sue')))).toMatchObject({
      ...{ met: false, uncounted: ['user:sue'], rules: [{ needed: 2, by: ['user:sam'], others: [] }] },
    });
  });

  const GOES_BACK: ApprovalAsk['kind'][] = ['rollback', 'follow-on'];
  const KINDS: ApprovalAsk['kind'][] = [
    ...(['manual', 'api', 'webhook', 'finder', 'parent', 'emergency', 'undeploy'] as const),
    ...GOES_BACK,
  ];
  test.each(KINDS.map((kind): [ApprovalAsk['kind'], boolean] => [kind, GOES_BACK.includes(kind)]))(
    'wherever it comes from, %s: continues by itself: %s',
    (kind, met) => {
      expect(approvalStatus(facts(), ask({ kind })).met).toBe(met);
    },
  );

  test('counts members that the identity provider puts into a group of the rule, without asking it from a worker', () => {
    const vouched = (group: string) => ({ approvals: [{ actor: 'user:pat', vouched: [group] }] });
    const counted = (group: string) => approvalStatus(facts(), ask(vouched(group))).rules[0]?.by;
    expect([counted('group:sre'), counted('group:web'), counted('group:platform')]).toEqual([
      ...[['user:pat'], [], ['user:pat']],
    ]);
  });

  test('is protected by what it deploys to, under any name', () => {
    const services = [{ pushType: 'twine', units: ['prod-kv-*'] }];
    const own = rules({ services, approvals: { count: 1, by: ['user:sam'] } });
    const at = (pushType: string, ...units: string[]) =>
      approvalStatus(own, ask({ pipeline: 'kv-side', holds: { pushType, units } }));
    expect(at('twine', 'kv-side-x', 'prod-kv-x')).toMatchObject({
      met: false,
      rules: [{ place: 'platform.protection.0' }],
    });
    expect([at('twine', 'kv-side-x').met, at('processes', 'prod-kv-x').met]).toEqual([true, true]);
    expect(approvalStatus(own, ask({ pipeline: 'kv-side' })).met).toBe(true);
  });

  test('is no emergency of owners where a rule forbids pushes, also where no door asked', () => {
    const action = {
      name: 'deploy',
      type: 'deploy',
      checks: ['errors'],
      soakMs: 0,
      hasWindow: true,
      emergencyApprovals: 0,
    } as const;
    const none = rules(prod({ emergency: false }));
    const pushed = ask({ kind: 'emergency', action });
    expect(approvalStatus(none, pushed).lacks).toMatch(/^platform\.protection\.0 forbids emergency pushes of prod-kv/);
    expect(approvalStatus(none, { ...pushed, permitted: 'platform.admins' }).lacks).toBeNull();
    expect(approvalStatus(none, ask({ action })).lacks).toBeNull();
    const checked = rules(prod({ requires: { checks: ['errors'] } }));
    const unbaked = { ...pushed, action: { ...action, skipsBake: true } } as const;
    expect(approvalStatus(checked, unbaked).lacks).toMatch(/so an emergency bakes as well$/);
    expect(approvalStatus(checked, pushed).lacks).toBeNull();
  });

  test('waits for approvals also where it goes back to what an import alone calls good, and is refused where that is to be checked', () => {
    const back = ask({ kind: 'rollback', imported: true });
    expect(approvalStatus(rules(prod({ approvals: { count: 1, by: ['user:sam'] } })), back).met).toBe(false);
    const action = {
      name: 'deploy',
      type: 'deploy',
      checks: [],
      soakMs: 0,
      hasWindow: false,
      emergencyApprovals: 0,
    } as const;
    expect(approvalStatus(rules(prod({ requires: { soak: '1h' } })), { ...back, action }).lacks).toMatch(
      /stands in an import alone, and a rollback is not checked; release it instead$/,
    );
  });

  test('is approved by no one who started its parent', () => {
    const child = { kind: 'parent', askedBy: ['user:sam', 'service:conveyor'] } as const;
    expect(approvalStatus(facts(), ask({ ...child, ...by('user:sam', 'user:sue') })).met).toBe(false);
  });

  test('meets every rule with the people of that rule, and one person may be of several', () => {
    const two = rules(
      prod({ approvals: { count: 1, by: ['group:sre'] } }),
      prod({ approvals: { count: 1, by: ['group:web'] } }),
      { pipelines: ['web-*'], approvals: { count: 9, by: ['group:web'] } },
    );
    expect(approvalStatus(two, ask(by('user:sam')))).toMatchObject({
      ...{ met: false, rules: [{ place: 'platform.protection.1', by: [] }, { place: 'platform.protection.0' }] },
    });
    expect(approvalStatus(two, ask(by('user:sam', 'user:wendy'))).met).toBe(true);
    expect(approvalStatus(two, ask(by('user:root'))).met).toBe(true);
  });

  test('is none where no rule is about the pipeline, or wants approvals', () => {
    const free = { lacks: null, met: true, rules: [], uncounted: [] };
    expect(approvalStatus(facts(null), ask())).toEqual(free);
    expect(approvalStatus(facts(), ask({ pipeline: 'kvstore', ...by('user:sam') }))).toEqual(free);
    expect(approvalStatus(rules(prod({ requires: { windows: true } })), ask())).toEqual(free);
  });

  test('takes as many approvals of an emergency as the rule requires for emergencies', () => {
    const kind = 'emergency';
    const fewer = rules(prod({ approvals: { count: 2, by: ['group:sre'] }, emergency: { approvals: 1 } }));
    expect(approvalStatus(fewer, ask({ kind, ...by('user:sue') })).met).toBe(true);
    // If the rule names no one they are owners, whom the pipeline counts.
    expect(approvalStatus(rules(prod({ emergency: { approvals: 1 } })), ask({ kind })).met).toBe(true);
  });

  test('shows ten people of a large company, and counts all', () => {
    const sre = Array.from({ length: 500 }, (_, n) => `user:sre${n}`);
    const large = { ...facts(), groups: { ...CONFIG.groups, sre } };
    const { met, rules: seen } = approvalStatus(large, ask());
    expect([met, seen[0]?.others.length]).toEqual([false, 10]);
    expect(approvalStatus(large, ask(by('user:sre17', 'user:sre499'))).met).toBe(true);
  });
});

describe('requirements of a rule for a deploy', () => {
  const demanding = rules(prod({ requires: { checks: ['errors'], soak: '1h', windows: true } }));
  const HOUR = 3_600_000;
  const full = { name: 'deploy', type: 'deploy', checks: ['errors'], soakMs: HOUR, hasWindow: true } as const;
  const lacks = (action: object, more: Partial<ApprovalAsk> = {}) => {
    const { met, lacks: why } = approvalStatus(
      demanding,
      ask({ action: { ...full, emergencyApprovals: 0, ...action }, ...more }),
    );
    expect(met).toBe(why === null);
    return why;
  };

  test('is asked again by the worker, wherever the release comes from', () => {
    expect(lacks({})).toBeNull();
    for (const kind of ['finder', 'webhook', 'parent', 'manual'] as const)
      expect(lacks({ checks: [], soakMs: 0, hasWindow: false }, { kind })).toBe(
        'platform.protection.0 protects prod-kv: deploy has no check errors; deploy soaks for 0ms and not 1h; deploy has no window',
      );
    expect(lacks({ type: 'canary', soakMs: 0, checks: [] })).toMatch(/deploy has no check errors$/);
    expect(lacks({ type: 'other', checks: [] })).toBeNull();
  });

  test('is passed by an undeploy, which brings no version, except for its window', () => {
    const kind = 'undeploy';
    expect(lacks({ checks: [], soakMs: 0 }, { kind })).toBeNull();
    expect(lacks({ checks: [], soakMs: 0, hasWindow: false }, { kind })).toBe(
      'platform.protection.0 protects prod-kv: deploy has no window',
    );
    expect(lacks({ hasWindow: false }, { kind, permitted: 'platform.admins' })).toBeNull();
  });

  test('is passed by a release of an admin, and by what goes back', () => {
    expect(lacks({ checks: [] }, { permitted: 'platform.admins through group:platform' })).toBeNull();
    expect(lacks({ checks: [] }, { permitted: 'owners of prod-kv' })).not.toBeNull();
    expect(lacks({ checks: [] }, { kind: 'rollback' })).toBeNull();
  });
});

const viewOf = (...actors: string[]): ApprovalView => {
  const { rules: of, uncounted } = approvalStatus(facts(), ask(by(...actors)));
  return { needed: 2, by: actors, notBy: 'user:alice', rules: of, uncounted };
};

test('shows how many approvals are missing, from which group, those given, those excluded, and those that do not count', () => {
  expect(approvalWords(viewOf())).toBe(
    'waiting for 2 approvals by group:sre (user:sam, user:sue) for platform.protection.0, not by user:alice',
  );
  expect(approvalWords(viewOf('user:sam', 'user:bob'))).toBe(
    'waiting for 1 approval by group:sre (user:sue) for platform.protection.0, not by user:alice; approved by user:sam; the approval of user:bob does not count, who is in none of these',
  );
});

test('a requester cannot approve their own request, nor approve twice', () => {
  const pick = (actor: string) => whyNotApprove(viewOf('user:sam'), { actor, approve: true });
  expect(pick('user:alice')).toBe('user:alice asked for it: others have to approve');
  expect(pick('user:sam')).toBe('user:sam has already approved it');
  expect(pick('user:sue')).toBeUndefined();
  const many = Array.from({ length: 100 }, (_, n) => `user:stranger${n}`);
  expect(whyNotApprove(viewOf(...many), { actor: 'user:sue', approve: true })).toMatch(/^100 people have approved it/);
});

describe('an approval', () => {
  const actions: Actions = {
    gate: { type: 'manual-pick' },
    other: { type: 'manual-pick' },
    first: { type: 'canary', with: { pushType: 'twine', amount: 1, bake: '1h' } },
    deploy: { type: 'deploy', needs: ['gate'], with: { pushType: 'twine' } },
  };
  const spec = specOf(['deploy'], { actions });
  const [old, now] = [artifact('kv:2'), artifact('kv:3')];
  const OLD = ['executable@kv:2'];
  const pick = (action: string, more: object = {}, of: string[] | undefined = OLD, from = RELEASE_FREE) =>
    takeRelease(from, 'pick', { action, actor: 'user:sam', approve: true, ...more }, of);
  const counts = (control: ReturnType<typeof pick>, name = 'deploy', wanted = old) =>
    listApprovals(control, spec, name, [wanted]).map(({ actor }) => actor);

  test('counts for all deploys and canaries of its release, and at a pick for those that need it', () => {
    expect([counts(pick('first')), counts(pick('gate')), counts(pick('deploy'), 'first')]).toEqual([
      ...[['user:sam'], ['user:sam'], ['user:sam']],
    ]);
    expect([counts(pick('other')), counts(pick('gate'), 'first'), counts(pick('deploy'), 'gate')]).toEqual([
      [],
      [],
      [],
    ]);
  });

  test('is of the versions that the release had by then, and of none that was made since', () => {
    expect(counts(pick('deploy'), 'deploy', now)).toEqual([]);
    expect(counts(pick('deploy', {}, [...OLD, 'executable@kv:3']), 'deploy', now)).toEqual(['user:sam']);
  });

  test('stays through a retry of the same versions, but not through a rejection', () => {
    const retry = (control: ReturnType<typeof pick>) => takeRelease(control, 'retry', { action: 'deploy' });
    expect(counts(retry(pick('deploy')))).toEqual(['user:sam']);
    expect(counts(retry(pick('deploy', { actor: 'user:sue', approve: false }, OLD, pick('deploy'))))).toEqual([]);
  });
});
