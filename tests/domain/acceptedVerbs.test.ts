import { allowVersion } from '../../domain/pipeline/state';
import { PIPELINE_VERBS } from '../../domain/verbs';
import { takePipeline, whyNotPipeline } from '../../domain/pipeline/control';
import { markKnownBad } from '../../domain/pipeline/knownBad';
import { pipelineStatus } from '../../domain/pipeline/view';
import { newRelease, withAction, type ActionRecord, type ReleaseInput } from '../../domain/release/state';
import { releaseStatus } from '../../domain/release/view';
import type { CommandRecord } from '../../domain/verbs';
import { artifact, manual, NOW, pipelineOf, specOf } from '../builders/pipelineWorld';

const GIVEN = { actor: 'user:alice', reason: 'r' };
const INPUT = {
  number: 1,
  spec: specOf(),
  artifacts: [],
  previous: [],
  trigger: manual(),
  lastGood: {},
} as unknown as ReleaseInput;
const [NAME = ''] = Object.keys(INPUT.spec.actions);
const fresh = newRelease(INPUT, NOW);
const verbsIn = (accepts: object = {}): string[] => Object.keys(accepts).sort();
const command = (verb: CommandRecord['verb'], accepted = true): CommandRecord => ({
  ...{ at: '2026-11-20T14:02:00.000Z', verb, accepted, ...GIVEN },
});

describe('the status of a release lists the verbs that it takes', () => {
  test.each<[string, Partial<typeof fresh>, readonly string[]]>([
    ['while it runs', {}, ['cancel', 'pause', 'revert']],
    ['while it is paused', { paused: true }, ['cancel', 'resume', 'revert']],
    ['once it is cancelled', { commands: [command('cancel')] }, ['revert']],
    ['after a cancel that was refused', { commands: [command('cancel', false)] }, ['cancel', 'pause', 'revert']],
    ['once it has ended', { endedAtMs: NOW }, []],
  ])('%s', (_when, over, expected) => {
    expect(verbsIn(releaseStatus({ ...fresh, ...over }, INPUT).accepts)).toEqual(expected);
  });

  test('for an undeploy without a revert', () => {
    const undeploy = { ...INPUT, trigger: { ...manual(), kind: 'undeploy' as const } };
    expect(verbsIn(releaseStatus(fresh, undeploy).accepts)).toEqual(['cancel', 'pause']);
  });

  test.each<[string, Partial<ActionRecord>, readonly string[]]>([
    ['that waits for nothing', {}, []],
    ['that waits for a person', { state: 'blocked', pickBy: ['user:alice'] }, ['pick']],
    ['that soaks', { state: 'blocked', soak: 'waiting' }, ['skip-window']],
    ['that waits for its window', { state: 'blocked', window: 'closed' }, ['skip-window']],
    ['that waits for users of its offers', { state: 'blocked', unfit: { users: [], more: 1 } }, ['override-offer']],
  ])('and of an action %s', (_which, patch, expected) => {
    const { actions } = releaseStatus(withAction(fresh, NAME, patch), INPUT);
    expect(verbsIn(actions.find(({ name }) => name === NAME)?.accepts)).toEqual(expected);
  });

  test('and of an action that failed while others run', () => {
    const record = { ...fresh, actions: { ...fresh.actions, other: fresh.actions[NAME]! } };
    const { actions } = releaseStatus(withAction(record, NAME, { state: 'failed' }), INPUT);
    expect(verbsIn(actions.find(({ name }) => name === NAME)?.accepts)).toEqual(['retry']);
  });
});

describe('the status of a pipeline lists the verbs that it takes', () => {
  const state = pipelineOf();
  const held = takePipeline(state, 'hold', GIVEN, NOW);
  const bad = markKnownBad(state, [artifact('kv:1')], 'it was reverted', NOW);

  test.each([
    ['while it is active', state],
    ['while it is held', held],
    ['while it is held and frozen', takePipeline(held, 'freeze', GIVEN, NOW)],
  ])('%s', (_when, given) => {
    const taken = PIPELINE_VERBS.filter(
      (verb) => verb !== 'end-use' && whyNotPipeline(given, verb, {}, NOW) === undefined,
    );
    expect(verbsIn(pipelineStatus(given, NOW).accepts)).toEqual([...taken].sort());
  });

  test('with a known-bad artifact until that is allowed', () => {
    expect(verbsIn(pipelineStatus(bad, NOW).accepts)).toContain('allow-artifact');
    expect(verbsIn(pipelineStatus(allowVersion(bad, 'executable@kv:1'), NOW).accepts)).not.toContain('allow-artifact');
  });

  test('once it is retired: none', () => {
    expect(verbsIn(pipelineStatus(takePipeline(state, 'retire', GIVEN, NOW), NOW).accepts)).toEqual([]);
  });
});
