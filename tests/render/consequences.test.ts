import type { OfferedCommand } from '../../domain/commandOffers';
import type { Verb } from '../../domain/verbs';
import { describeConsequences, type CommandScene } from '../../render/consequences';
import { action, deploy, NOW, phase, release } from '../builders/cliSamples';
import { baking, busyPipeline, running, succeeded } from '../builders/pageWorld';

const scene = (over: Partial<CommandScene> = {}): CommandScene => ({
  ...{ pipeline: null, release: null, deploys: [], holdsOnRevert: null, nowMs: NOW },
  ...over,
});
const ofDeploy = scene({ pipeline: busyPipeline(), release: baking(), deploys: [running()], holdsOnRevert: true });
const say = (given: CommandScene, verb: Verb, more: Partial<OfferedCommand> = {}): string =>
  describeConsequences(given, { verb, target: 'kvstore/13/deploy', effect: '', ...more }).join(' ');

describe('the effect of a command in numbers', () => {
  test.each<[Verb, string]>([
    ['pause', '0 tasks in 2 phases are still to come.'],
    ['cancel', 'It stops 2 phases. It leaves 7 of 7 tasks on kv:13.'],
    [
      'revert',
      'It stops 2 phases. It takes 7 tasks back to kv:12, in about 6s. The pipeline is held from then on, until a person ends the hold.',
    ],
    ['skip-phase', 'It leaves 1 task of phase half to phase completion.'],
    ['skip-bake', 'It saves 2m 42s of the bake of phase half.'],
    ['skip-health-check', 'It has 2 checks with 2 verdicts now, 0 of them unhealthy.'],
  ])('%s counts phases, tasks and checks of a deploy', (verb, words) => expect(say(ofDeploy, verb)).toBe(words));

  test('counts the tasks of the whole plan, and says that none goes back before the first update', () => {
    const planned = { tasks: 40, phases: [] };
    const first = deploy({ planned, phases: [phase({ state: 'running' }), phase({ index: 1, name: 'completion' })] });
    const given = scene({ release: baking(), deploys: [first] });
    expect(say(given, 'pause')).toBe('40 tasks in 2 phases are still to come.');
    expect(say(given, 'revert')).toBe('It stops 2 phases. It has updated no task yet, so none goes back.');
  });

  test('a command to a release counts its actions and the tasks of its deploys', () => {
    const given = { ...ofDeploy, holdsOnRevert: false };
    const target = 'kvstore/13';
    expect(say(given, 'cancel', { target })).toBe(
      'It ends 1 running action, and 3 others never start. It leaves 7 of 7 tasks updated.',
    );
    expect(say(given, 'revert', { target })).toBe(
      'It ends 1 running action, and 3 others never start. It stops 2 phases. It takes 7 tasks back to kv:12, in about 6s.',
    );
    expect(say(given, 'pause', { target })).toMatch(/^3 actions wait until it is resumed; 1 action is running\./);
  });

  test('a rollback counts its deploys', () => {
    const ended = deploy({ state: 'ended', outcome: 'succeeded', planned: { tasks: 12, phases: [] } });
    const given = scene({ release: succeeded(12), deploys: [ended] });
    expect(say(given, 'revert', { target: 'kvstore/12' })).toBe(
      'It starts a rollback, which undoes 1 deploy with 12 tasks.',
    );
  });

  test('a pick names the artifacts that it approves, and the actions after it', () => {
    const target = 'kvstore/13/approve';
    expect(say(ofDeploy, 'pick', { target, approve: true })).toMatch(
      /^It approves source@13 and executable@kv:13.*\. 2 actions may follow: deploy-eu and report\.$/,
    );
    expect(say(ofDeploy, 'pick', { target, approve: false })).toBe(
      'It fails approve; 2 actions may wait for it in vain: deploy-eu and report.',
    );
  });

  test('an approval of an undeploy names the deploys that are removed', () => {
    const actions = [action({ name: 'dns', state: 'blocked' }), action({ name: 'network' })];
    const trigger = { kind: 'undeploy', actor: 'user:alice', key: null } as const;
    const given = scene({ release: release({ actions, trigger, artifacts: [] }) });
    expect(say(given, 'pick', { target: 'kvstore/13/dns', approve: true })).toMatch(
      /^It approves the removal of dns and network\./,
    );
  });

  test('an approval counts those that are missing', () => {
    const approval = { needed: 3, by: ['user:sam'], notBy: 'user:alice' };
    const waiting = release({ actions: [action({ name: 'deploy', state: 'blocked', approval })] });
    expect(say(scene({ release: waiting }), 'pick', { approve: true })).toContain(
      '1 approval by others is still missing',
    );
  });

  test('a command to a pipeline counts its releases and its production', () => {
    const given = scene({ pipeline: { ...busyPipeline(), active: [13, 14] } });
    const target = 'kvstore';
    expect(say(given, 'freeze', { target })).toBe('2 releases are under way.');
    expect(say(given, 'undeploy', { target })).toMatch(/^It removes 1 deploy: deploy with kv:12\./);
    expect(say(given, 'end-use', { target, user: 'shop/deploy' })).toBe('shop/deploy uses 1 offer: endpoint.');
    expect(say(given, 'allow-artifact', { target, artifact: 'executable@kv:11' })).toContain('was reverted');
  });
});
