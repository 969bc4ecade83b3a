import { refuseEmergency } from '../../../domain/pipeline/requests';
import { approvalsNeeded, approvalWords } from '../../../domain/release/approval';
import { RELEASE_FREE, takeRelease, whyNotRelease } from '../../../domain/release/control';
import { releaseDetails } from '../../../domain/release/details';
import { newRelease, withAction } from '../../../domain/release/state';
import { releaseStatus } from '../../../domain/release/view';
import { DEFAULT_SETTINGS } from '../../../domain/settings';
import { renderRelease } from '../../../render/release';
import type { CommandInput } from '../../../domain/verbs';
import {
  admittedOf,
  begunBy,
  deployOf,
  emergency,
  pipelineWith,
  rollback,
  toldOf,
  withAsked,
} from '../../builders/admissionWorld';
import { artifact, manual, NOW, pipelineOf, specOf } from '../../builders/pipelineWorld';

const NEEDS = { emergency: { approvals: 2 } };
const approval = { needed: 2, by: [], notBy: 'user:alice' };
const owners = ['user:alice', 'group:storage'];
const input = {
  ...{ number: 13, spec: specOf(['deploy'], NEEDS), artifacts: [artifact('kv:3')], previous: [], trigger: emergency },
  ...{ lastGood: {}, policy: { owners, groups: {} }, settings: DEFAULT_SETTINGS },
};
const waiting = withAction(newRelease(input, NOW), 'deploy', {
  ...{ state: 'blocked' as const, blockedBy: approvalWords(approval), pickBy: owners, approval },
});
const by = (actor: string, approve = true): CommandInput => ({ action: 'deploy', approve, actor, reason: '' });
const after = (...picks: CommandInput[]) => picks.reduce((free, pick) => takeRelease(free, 'pick', pick), RELEASE_FREE);

test('only emergencies need approvals, as many as the pipeline says', () => {
  expect(approvalsNeeded(specOf(['deploy'], NEEDS), emergency)).toBe(2);
  for (const trigger of [manual(), rollback]) expect(approvalsNeeded(specOf(['deploy'], NEEDS), trigger)).toBe(0);
  expect(approvalsNeeded(specOf(), emergency)).toBe(0);
});

test.each<[string, CommandInput, CommandInput[], string | undefined]>([
  ['another owner may approve', by('user:sam'), [], undefined],
  ['the one who pushed may not', by('user:alice'), [], 'user:alice pushed it: another owner has to approve'],
  ['but may reject', by('user:alice', false), [], undefined],
  ['nobody twice', by('user:sam'), [by('user:sam')], 'user:sam has already approved it'],
  ['a second one', by('user:bob'), [by('user:sam')], undefined],
  ['who approved may still reject', by('user:sam', false), [by('user:sam')], undefined],
  ['nobody after a rejection', by('user:bob'), [by('user:sam', false)], 'user:sam has already rejected deploy'],
  ['once more after a retry', by('user:sam'), [by('user:sam'), by('user:bob', false)], undefined],
])('%s', (title, pick, before, expected) => {
  const picked = after(...before);
  const control = title.includes('retry') ? takeRelease(picked, 'retry', { action: 'deploy' }) : picked;
  expect(whyNotRelease(control, waiting, 'pick', pick)).toBe(expected);
});

test('a push is refused where there are too few others, groups counted by their members', () => {
  const push = (approvals: number, more: object = {}) =>
    refuseEmergency(
      { ...pipelineOf(['deploy'], { emergency: { approvals } }), ...more },
      [artifact('kv:3')],
      emergency,
      { action: 'deploy', skipBake: false },
    );
  expect(push(1)).toBeUndefined();
  expect(push(2)).toMatchObject({
    code: 'invalid-state',
    message: 'it needs 2 approvals by owners other than user:alice, and there are 1 of them',
  });
  expect(push(2, { groups: { storage: ['user:sam', 'user:kim', 'user:alice'] } })).toBeUndefined();
});

describe('an emergency that was approved', () => {
  const approved = deployOf(1, { emergency: true, approved: true });
  /** Release 1 is the emergency, release 2 has begun to deploy. */
  const begun = (trigger: Parameters<typeof begunBy>[1]) =>
    admittedOf(begunBy(begunBy(pipelineWith(0), emergency), trigger), deployOf(2));
  const free = (state: ReturnType<typeof begun>) => ({ ...state, deploys: pipelineWith(0).deploys });

  test('goes before a newer release that has begun, but not before a newer emergency or rollback', () => {
    expect(toldOf(withAsked(free(begun(manual())), approved))).toEqual(['1 deploy granted']);
    for (const trigger of [emergency, rollback])
      expect(toldOf(withAsked(free(begun(trigger)), approved))).toEqual(['1 deploy superseded by 2']);
  });

  test('is the only one that does', () => {
    expect(toldOf(withAsked(free(begun(manual())), deployOf(1, { emergency: true })))).toEqual([
      '1 deploy superseded by 2',
    ]);
  });
});

test('shows the possible approvers, the deadline, and the command to type', () => {
  const until = '2026-11-23T18:00:00.000Z';
  const status = { ...releaseStatus(withAction(waiting, 'deploy', { until }), input), webUi: '' };
  const view = { width: 160, color: false, timezone: 'UTC', now: NOW } as unknown as Parameters<
    typeof renderRelease
  >[2];
  const text = renderRelease(status, [], view);
  expect(text).toContain('waiting for 2 approvals by owners other than user:alice');
  expect(text).toContain('conveyor pick kvstore/13/deploy --approve --reason "…"');
  expect(releaseDetails(status)).toContain('conveyor pick kvstore/13/deploy --approve');
});
