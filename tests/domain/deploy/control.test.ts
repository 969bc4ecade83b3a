import fc from 'fast-check';
import {
  describeEffect,
  freeze,
  NO_COMMANDS,
  phaseOver,
  listSkippedChecks,
  take,
  whyNot,
  whyNotOvertaken,
  whyOnlyPersons,
  type GivenCommand,
  type Control,
  type Overtaken,
  type DeploySituation,
} from '../../../domain/deploy/control';
import {
  CANARY_OVER,
  newDeploy,
  toDeploySituation,
  withPhase,
  withPlan,
  type DeployRecord,
} from '../../../domain/deploy/state';
import { pauseDeploy, keepPaused, endPause } from '../../../domain/deploy/pauseRecord';
import { planDeploy } from '../../../domain/deploy/plan';
import { deployWith } from '../../../domain/spec/deploy';
import { DEPLOY_VERBS, type CommandInput, type DeployVerb } from '../../../domain/verbs';
import type { Pause } from '../../../domain/views';

const NOW = Date.parse('2026-11-23T17:00:00Z');
const ONE_TASK = { amount: { count: 1 }, bakeMs: 0, keepUntil: false } as const;
const ASKED: GivenCommand = { actor: 'user:bob', reason: 'r', at: '2026-11-23T16:00:00.000Z' };
const pause = (by: Pause['by'] = 'operator'): Pause => ({ ...ASKED, by, actor: by === 'operator' ? 'user:bob' : null });
const situation = (control: Partial<Control> = {}, more: Partial<DeploySituation> = {}): DeploySituation => ({
  control: { ...NO_COMMANDS, ...control },
  ended: false,
  reverting: false,
  revertStuck: false,
  phase: { kind: 'partial', name: 'first' },
  completing: false,
  checks: ['errors', 'cpu'],
  ...more,
});
const REVERT = { ...ASKED, notBad: false, paused: null };

const SITUATIONS = {
  running: situation(),
  planning: situation({}, { phase: null }),
  completing: situation({}, { phase: { kind: 'completion', name: 'completion' }, completing: true }),
  paused: situation({ paused: pause() }),
  'paused by health': situation({ paused: pause('health') }),
  resuming: situation({ paused: pause(), resuming: ASKED }),
  cancelled: situation({ cancel: ASKED }),
  'to be reverted': situation({ revert: REVERT }),
  reverting: situation({ revert: REVERT }, { reverting: true }),
  'paused in its revert': situation({ revert: REVERT, paused: pause() }, { reverting: true }),
  'out of time': situation({ paused: pause('timeout') }),
  'out of time at the end': situation(
    { paused: pause('timeout') },
    { phase: { kind: 'completion', name: 'completion' }, completing: true },
  ),
  stuck: situation({ revert: REVERT, paused: pause('timeout') }, { reverting: true, revertStuck: true }),
  'without a past': situation(
    { revert: REVERT, paused: pause('unit') },
    { reverting: true, revertStuck: true, withoutPast: true },
  ),
  frozen: situation({ frozen: ASKED, paused: pause('freeze') }, { phase: null }),
  superseded: situation({ overtaken: { by: 3, why: 'superseded' } }),
  preempted: situation({ overtaken: { by: 3, why: 'preempted' } }),
  ended: situation({}, { ended: true }),
} satisfies Record<string, DeploySituation>;

/** Which verbs each situation takes, of all. */
const TAKEN: Record<keyof typeof SITUATIONS, DeployVerb[]> = {
  running: ['pause', 'cancel', 'revert', 'skip-phase', 'skip-bake', 'skip-health-check'],
  planning: ['pause', 'cancel', 'revert', 'skip-health-check'],
  completing: ['pause', 'cancel', 'revert', 'skip-bake', 'skip-health-check'],
  paused: ['resume', 'cancel', 'revert', 'skip-phase', 'skip-bake', 'skip-health-check'],
  'paused by health': ['pause', 'resume', 'cancel', 'revert', 'skip-phase', 'skip-bake', 'skip-health-check'],
  resuming: ['pause', 'cancel', 'revert', 'skip-phase', 'skip-bake', 'skip-health-check'],
  cancelled: ['revert'],
  'to be reverted': ['pause', 'revert'],
  reverting: ['pause', 'revert'],
  'paused in its revert': ['resume', 'revert'],
  'out of time': ['pause', 'resume', 'cancel', 'revert', 'skip-phase', 'skip-bake', 'skip-health-check'],
  'out of time at the end': ['pause', 'resume', 'cancel', 'revert', 'skip-bake', 'skip-health-check'],
  stuck: ['pause', 'resume', 'cancel', 'revert'],
  'without a past': ['cancel', 'revert'],
  frozen: ['pause', 'cancel', 'revert', 'skip-health-check'],
  superseded: ['pause', 'cancel', 'revert', 'skip-phase', 'skip-bake', 'skip-health-check'],
  preempted: ['revert'],
  ended: [],
};

describe('the verbs that a deploy takes', () => {
  test.each(Object.keys(SITUATIONS) as (keyof typeof SITUATIONS)[])('while %s', (name) => {
    const taken = DEPLOY_VERBS.filter((verb) => whyNot(SITUATIONS[name], verb, {}) === undefined);
    expect(taken).toEqual(TAKEN[name]);
  });

  const check = (name: keyof typeof SITUATIONS, verb: DeployVerb, why: string, input: CommandInput = {}) =>
    expect(whyNot(SITUATIONS[name], verb, input)).toBe(why);
  test.each<[keyof typeof SITUATIONS, DeployVerb, string]>([
    ['ended', 'pause', 'it has ended'],
    ['planning', 'skip-phase', 'no phase is under way'],
    ['completing', 'skip-phase', 'the completion phase cannot be skipped; cancel or revert instead'],
    ['paused', 'pause', 'user:bob has already paused it'],
    ['running', 'resume', 'it is not paused'],
    ['resuming', 'resume', 'user:bob has already resumed it'],
    ['cancelled', 'cancel', 'user:bob has already cancelled it'],
    ['cancelled', 'pause', 'it is being cancelled'],
    ['reverting', 'cancel', 'it is reverting; a revert can be paused but not stopped'],
    ['without a past', 'resume', 'no earlier version is known; cancel it, then deploy a good version'],
    ['frozen', 'resume', 'it is frozen, and continues by itself once the pipeline is unfrozen'],
    ['preempted', 'cancel', 'release 3 has already preempted it'],
    ['to be reverted', 'skip-bake', 'it is reverting; a revert can be paused but not stopped'],
  ])('while %s, %s is refused and says why', (name, verb, why) => check(name, verb, why));

  test('only a person ends a revert that is stuck', () => {
    expect(whyNot(SITUATIONS.stuck, 'cancel', {})).toBeUndefined();
    expect(whyOnlyPersons(SITUATIONS.stuck)).toContain('it is reverting');
    expect(whyOnlyPersons(SITUATIONS.paused)).toBeUndefined();
  });

  test.each(['running', 'paused', 'paused by health', 'out of time', 'stuck'] as const)(
    'while %s, no tasks can be accepted as missing',
    (name) => expect(whyNot(SITUATIONS[name], 'resume', { acceptMissing: true })).toBeDefined(),
  );

  test('only of a completion phase that its update timeout has paused a person may accept that tasks are missing', () => {
    const input = { acceptMissing: true, actor: 'user:bob' };
    const at = SITUATIONS['out of time at the end'];
    expect(whyNot(at, 'resume', input)).toBeUndefined();
    expect(describeEffect('resume', at, input)).toBe(
      'it continues without the missing tasks after one fresh healthy verdict, or at once if nothing is updated or checked',
    );
    const control = take(at.control, 'resume', input, NOW);
    expect(control.accepted).toMatchObject({ actor: 'user:bob' });
    expect(take(control, 'pause', {}, NOW).accepted).toBeNull();
    expect(take(control, 'resume', {}, NOW).accepted).toBeNull();
    expect(phaseOver(control).accepted).toBeNull();
  });

  test.each(['timeout', 'unit'] as const)('skipping a phase that is paused by %s resumes it too', (by) => {
    const { resuming } = take({ ...NO_COMMANDS, paused: pause(by) }, 'skip-phase', { actor: 'user:bob' }, NOW);
    expect(resuming).toMatchObject({ actor: 'user:bob' });
  });

  test.each(['operator', 'health', 'dependency'] as const)('skipping a phase does not end a pause by %s', (by) =>
    expect(take({ ...NO_COMMANDS, paused: pause(by) }, 'skip-phase', {}, NOW).resuming).toBeNull(),
  );

  test('a check that does not exist is refused with those that do', () => {
    check('running', 'skip-health-check', 'it has no check called cp (errors, cpu)', { check: 'cp' });
  });

  test.each(['skip-phase', 'skip-bake'] as const)('%s of a phase that is named is refused in another', (verb) => {
    expect(whyNot(SITUATIONS.running, verb, { phase: 'first' })).toBeUndefined();
    check('running', verb, 'phase first is under way, not canary', { phase: 'canary' });
  });

  test.each<[string, CommandInput, CommandInput, string | undefined]>([
    ['the same check twice', { check: 'cpu' }, { check: 'cpu' }, 'it is already skipped'],
    ['all checks after one', { check: 'cpu' }, {}, undefined],
    ['one check after all', {}, { check: 'cpu' }, 'it is already skipped'],
    ['all checks twice', {}, {}, 'it is already skipped'],
    ['another check', { check: 'cpu' }, { check: 'errors' }, undefined],
    ['for the deploy after the phase', { check: 'cpu' }, { check: 'cpu', for: 'deploy' }, undefined],
    ['for the phase after the deploy', { for: 'deploy' }, { check: 'cpu', for: 'phase' }, 'it is already skipped'],
  ])('skipping %s', (_, first, second, why) => {
    const control = take(NO_COMMANDS, 'skip-health-check', first, NOW);
    expect(whyNot(situation(control), 'skip-health-check', second)).toBe(why);
  });
});

describe('a release that takes its place', () => {
  const check = (name: keyof typeof SITUATIONS, why: Overtaken['why'], answer: string | undefined) =>
    expect(whyNotOvertaken(SITUATIONS[name], { by: 4, why })).toBe(answer);
  test.each<[keyof typeof SITUATIONS, Overtaken['why'], string | undefined]>([
    ['planning', 'superseded', undefined],
    ['running', 'superseded', undefined],
    ['frozen', 'superseded', undefined],
    ['paused', 'preempted', undefined],
    ['completing', 'superseded', 'it is completing'],
    ['completing', 'preempted', undefined],
    ['superseded', 'superseded', 'release 3 has already superseded it'],
    ['superseded', 'preempted', undefined],
    ['preempted', 'preempted', 'release 3 has already preempted it'],
    ['preempted', 'superseded', 'release 3 has already preempted it'],
    ['cancelled', 'preempted', 'it is being cancelled'],
    ['to be reverted', 'preempted', 'it is reverting; a revert can be paused but not stopped'],
    ['reverting', 'preempted', 'it is reverting; a revert can be paused but not stopped'],
    ['stuck', 'preempted', 'it is reverting; a revert can be paused but not stopped'],
    ['ended', 'preempted', 'it has ended'],
  ])('while %s, when %s, is answered with %s', check);

  test('loses against a revert', () =>
    expect(take(SITUATIONS.preempted.control, 'revert', {}, NOW).overtaken).toBeNull());
});

describe('unfreezing', () => {
  const unfrozen = (by: Pause['by']) => freeze({ ...NO_COMMANDS, frozen: ASKED, paused: pause(by) }, null);
  test('lets a deploy continue that was paused by the freeze alone', () =>
    expect(unfrozen('freeze')).toMatchObject({ frozen: null, paused: null }));
  test.each(['operator', 'health', 'dependency'] as const)('does not end a pause by %s', (by) =>
    expect(unfrozen(by)).toMatchObject({ frozen: null, paused: { by } }),
  );
  test('is not needed for what was paused before, which stays paused', () =>
    expect(freeze({ ...NO_COMMANDS, paused: pause() }, ASKED)).toMatchObject({
      frozen: ASKED,
      paused: { by: 'operator' },
    }));
});

describe('the state after a verb', () => {
  const input = { actor: 'user:alice', reason: 'r' };
  const asked = { ...input, at: '2026-11-23T17:00:00.000Z' };
  test.each<[string, DeployVerb, CommandInput, Partial<Control>]>([
    ['pause', 'pause', input, { paused: { ...asked, by: 'operator' }, noRevert: false }],
    ['pause --no-revert', 'pause', { ...input, noRevert: true }, { noRevert: true }],
    ['resume', 'resume', input, { resuming: asked }],
    ['cancel', 'cancel', input, { cancel: asked }],
    ['revert', 'revert', input, { revert: { ...asked, notBad: false, paused: null } }],
    ['revert --not-bad', 'revert', { ...input, notBad: true }, { revert: { ...asked, notBad: true, paused: null } }],
    ['skip-phase', 'skip-phase', input, { skipPhase: asked }],
    ['skip-bake', 'skip-bake', input, { skipBake: asked }],
    ['skip-health-check', 'skip-health-check', input, { skippedChecks: [{ ...asked, check: null, for: 'phase' }] }],
    ['a verb without anything', 'cancel', {}, { cancel: { actor: 'user:unknown', reason: '', at: asked.at } }],
  ])('%s', (_, verb, command, left) => expect(take(NO_COMMANDS, verb, command, NOW)).toMatchObject(left));

  test('a deploy without health checks has none to skip', () => {
    const bare = { ...situation(NO_COMMANDS), checks: [] };
    expect(whyNot(bare, 'skip-health-check', {})).toBe('it has no health checks');
  });

  test('a second revert changes nothing, whatever its actor', () => {
    const once = take(NO_COMMANDS, 'revert', input, NOW);
    expect(take(once, 'revert', { actor: 'user:bob', notBad: true }, NOW + 1)).toEqual(once);
  });

  test('a revert ends the pause that it finds, and a pause after it holds it', () => {
    const paused = take(NO_COMMANDS, 'pause', input, NOW);
    const reverting = take(paused, 'revert', input, NOW + 1);
    expect(reverting).toMatchObject({ paused: null, revert: { paused: { by: 'operator' } } });
    expect(take(reverting, 'pause', input, NOW + 2).paused).toMatchObject({ by: 'operator' });
  });

  test('a pause takes back a resume that waits for its verdict', () => {
    const resuming = take(take(NO_COMMANDS, 'pause', input, NOW), 'resume', input, NOW);
    expect(take(resuming, 'pause', input, NOW).resuming).toBeNull();
  });

  test('the end of a phase drops what was meant for it alone', () => {
    const commands: [DeployVerb, CommandInput][] = [
      ['skip-phase', {}],
      ['skip-bake', {}],
      ['skip-health-check', { check: 'errors' }],
      ['skip-health-check', { check: 'cpu', for: 'deploy' }],
      ['pause', input],
    ];
    const control = commands.reduce((folded, [verb, command]) => take(folded, verb, command, NOW), NO_COMMANDS);
    expect(listSkippedChecks(control)).toEqual(['errors', 'cpu']);
    const over = phaseOver(control);
    expect(over).toMatchObject({ skipPhase: null, skipBake: null, paused: { by: 'operator' } });
    expect(listSkippedChecks(over)).toEqual(['cpu']);
  });

  test('one skip without a name skips all checks', () =>
    expect(listSkippedChecks(take(NO_COMMANDS, 'skip-health-check', {}, NOW))).toBe('all'));

  test('every verb answers with one sentence, which names the phase where it is about one', () => {
    const effects = DEPLOY_VERBS.map((verb) => describeEffect(verb, situation()));
    expect(new Set(effects).size).toBe(DEPLOY_VERBS.length);
    expect(describeEffect('skip-bake', situation())).toBe('phase first continues without baking');
    expect(describeEffect('revert', situation({}, { ranEach: 'kv:1 in x; kv:0 in y' }))).toBe(
      'every task that it updated returns to its previous version: kv:1 in x; kv:0 in y',
    );
    expect(describeEffect('pause', situation({}, { reverting: true }))).toBe('the revert starts no further updates');
  });

  test('the answer to a pause does not promise a revert that --no-revert rules out', () =>
    expect(describeEffect('pause', situation())).toContain('unless --no-revert was given'));
});

const aCommand = fc.record({
  verb: fc.constantFrom(...DEPLOY_VERBS),
  input: fc.record<CommandInput>(
    {
      actor: fc.constantFrom('user:alice', 'user:bob'),
      check: fc.constantFrom('errors', 'cpu', 'nonsense'),
      for: fc.constantFrom('phase', 'deploy'),
      noRevert: fc.boolean(),
      notBad: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
});
const aPlace = fc.record({
  reverting: fc.boolean(),
  revertStuck: fc.boolean(),
  phase: fc.constantFrom(null, { kind: 'partial', name: 'first' } as const, { kind: 'completion', name: 'c' } as const),
});

test('for any commands: a revert is always accepted and never withdrawn, other verbs are refused meanwhile, and nothing grows without limit', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(aCommand, aPlace), { maxLength: 60 }), (commands) => {
      let control = NO_COMMANDS;
      for (const [{ verb, input }, place] of commands) {
        const before = situation(control, place);
        const why = whyNot(before, verb, input);
        if (verb === 'revert') expect(why).toBeUndefined();
        if (place.phase?.kind === 'completion' && verb === 'skip-phase') expect(why).toBeDefined();
        if (place.reverting && !place.revertStuck && verb === 'cancel') expect(why).toBeDefined();
        if (why !== undefined) continue;
        const next = take(control, verb, input, NOW);
        if (control.revert) expect(next.revert).toEqual(control.revert);
        if (verb !== 'revert') expect(next.cancel === null && control.cancel !== null).toBe(false);
        control = next;
        if (verb === 'cancel' || verb === 'resume')
          expect(whyNot(situation(control, place), verb, input)).toBeDefined();
        expect(control.skippedChecks.length).toBeLessThanOrEqual(6);
      }
    }),
  );
});

const SPEC = deployWith.parse({
  pushType: 'twine',
  phases: [{ name: 'first', scope: '*', amount: 1 }],
  healthChecks: [{ name: 'errors', metric: 'm', threshold: { above: 1 } }],
});
const UNITS = [{ id: 'x', labels: {}, size: 3, version: 'kv:1', mixed: false, available: true }];
const FLEET = { units: 1, tasks: 3, snapshot: { units: UNITS }, withoutPast: [], shares: [1, 1], inPages: false };
const planned = (): DeployRecord => withPlan(newDeploy(NOW), planDeploy(SPEC, UNITS, [], 'kv:2'), FLEET);
const commanded = (
  record: DeployRecord,
  verb: DeployVerb,
  input: CommandInput = { actor: 'user:alice' },
): DeployRecord => ({
  ...record,
  control: take(record.control, verb, input, NOW),
});
const byOf = (record: DeployRecord) => record.control.paused?.by ?? null;

describe('the view of a deploy for rules', () => {
  const phaseOf = (record: DeployRecord) => toDeploySituation(record, { spec: SPEC }).phase;

  test('no phase before the first', () => expect(phaseOf(planned())).toBeNull());

  test('the phase under way', () =>
    expect(phaseOf(withPhase({ ...planned(), cursor: 0 }, 0, { state: 'running' }))).toEqual({
      kind: 'partial',
      name: 'first',
      baked: false,
    }));

  test('none between two phases, so that a skip does not hit the next', () =>
    expect(phaseOf(withPhase({ ...planned(), cursor: 0 }, 0, { state: 'succeeded' }))).toBeNull());

  test('the names of its checks', () =>
    expect(toDeploySituation(planned(), { spec: SPEC }).checks).toEqual(['errors']));
});

test.each([
  ['a deploy', {}, 'it stops; tasks already updated stay on the new version'],
  ['a canary', { canary: ONE_TASK }, 'it stops; tasks that it updated go back, as at the end of any canary'],
])('a cancel says where it leaves the tasks of %s', (_, more, effect) => {
  expect(describeEffect('cancel', toDeploySituation(planned(), { spec: SPEC, ...more }))).toBe(effect);
});

test.each<[string, string, Partial<Control>, string]>([
  ['because it is over', CANARY_OVER, {}, 'its tasks are already going back; it ends as reverted'],
  [
    'because it is over, and that a person has reverted',
    CANARY_OVER,
    { revert: { ...ASKED, notBad: false, paused: null } },
    'it is already reverting; nothing changes',
  ],
  ['because it is unhealthy', 'health', {}, 'it is already reverting; nothing changes'],
])('a revert of a canary that goes back %s says what it changes', (_, by, control, effect) => {
  const revert = { by, reason: '', startedAt: ASKED.at, endedAt: null, units: [] };
  const record: DeployRecord = { ...planned(), stage: 'reverting', revert, control: { ...NO_COMMANDS, ...control } };
  expect(describeEffect('revert', toDeploySituation(record, { spec: SPEC, canary: ONE_TASK }))).toBe(effect);
});

describe('who pauses', () => {
  test('a pause of the system never replaces that of a person', () =>
    expect(byOf(pauseDeploy(commanded(planned(), 'pause'), NOW, 'dependency', 'twine is silent'))).toBe('operator'));

  test('a person may take over a pause of the system', () =>
    expect(byOf(commanded(pauseDeploy(planned(), NOW, 'dependency', 'twine is silent'), 'pause'))).toBe('operator'));

  test('the system ends its own pause', () =>
    expect(byOf(endPause(pauseDeploy(planned(), NOW, 'dependency', 'd'), NOW, 'twine answers again'))).toBeNull());

  test('it does not end the pause of a person who has not resumed', () => {
    const record = endPause(commanded(planned(), 'pause', { noRevert: true }), NOW, 'twine answers again');
    expect(record.control).toMatchObject({ paused: { by: 'operator' }, noRevert: true });
  });

  test('a resume ends the pause', () =>
    expect(endPause(commanded(commanded(planned(), 'pause'), 'resume'), NOW, 'resumed').control).toEqual(NO_COMMANDS));

  test('a pause that came while a resume waited for its verdict stands', () => {
    const again = commanded(commanded(commanded(planned(), 'pause'), 'resume'), 'pause', { actor: 'user:bob' });
    expect(endPause(again, NOW, 'healthy').control.paused).toMatchObject({ by: 'operator', actor: 'user:bob' });
    expect(keepPaused(again, NOW, 'unhealthy').control.paused).toMatchObject({ by: 'operator', actor: 'user:bob' });
  });

  test('a resume that finds no healthy verdict leaves it paused by health', () => {
    const record = keepPaused(commanded(commanded(planned(), 'pause'), 'resume'), NOW, 'errors is 0.2');
    expect(record.control).toMatchObject({ paused: { by: 'health', reason: 'errors is 0.2' }, resuming: null });
  });
});
