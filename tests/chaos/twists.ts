import { HOUR, MINUTE } from '../workflows/world';
import { withConfiguration } from './configuration';
import { HORIZON_MS, type Dice } from './dice';
import { CANARY_ATTEMPTS } from './play';
import type { DeployWith, Happening, Scenario, Twist } from './scenario';
import { happening, WORLD_TWISTS } from './worldTwists';

export const TWISTS: Readonly<Record<string, Twist>> = {
  steps: withSteps,
  disaster: withDisaster,
  approvals: withApprovals,
  groups: withGroups,
  ...WORLD_TWISTS,
  canaries: withCanaries,
  configuration: withConfiguration,
};

type Step = NonNullable<NonNullable<DeployWith['completion']>['pre']>[number];

/** Steps around phases: slow ones, some that fail and some that hang, from a service that may itself be in trouble. */
function withSteps(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.4)) return story;
  const steps = (of: () => Step) => (dice.chance(0.6) ? dice.times(2, of) : []);
  const around = () => ({ pre: steps(() => preStep(dice)), post: steps(() => step(dice)) });
  const apart = dice.chance(0.5);
  const told = withDeploy(story, ({ phases = [], completion }) => ({
    phases: phases.map((phase) => ({ ...phase, ...around() })),
    completion: { ...completion, ...(apart || phases.length === 0 ? around() : {}) },
  }));
  const trouble = (): Happening => {
    const mode = dice.of('error', 'lose-reply', 'duplicate', 'garbage', 'delay');
    const fault = { kind: 'http', service: 'slow', mode, rate: dice.of(0.3, 1), delayMs: dice.int(100, 20_000) };
    return { atMs: dice.time(), kind: 'fault', fault, forMs: dice.int(1, 30) * MINUTE };
  };
  return happening(told, dice.times(2, trouble));
}

function preStep(dice: Dice): Step {
  const isUndone = dice.chance(0.7);
  const undo = { service: 'slow', with: { takesMs: dice.int(0, 4) * MINUTE, fails: dice.of(0, 0, 0, 1, 4) } };
  return isUndone ? { ...step(dice, { isUndone }), undo } : step(dice);
}

/** Far from its time limit if it has one, since the order is undefined if both end at the same time. */
function step(dice: Dice, more: object = {}): Step {
  const [hangs, isLimited] = [dice.chance(0.1), dice.chance(0.2)];
  const takesMs = hangs ? 5 * HOUR : dice.int(0, 5) * MINUTE;
  const service = { service: 'slow', with: { takesMs, fails: dice.of(0, 0, 0, 0, 1, 2), ...more } };
  const command = { command: [dice.of('true', 'true', 'false')] };
  const timeout = hangs || isLimited ? { timeout: `${dice.int(10, 20)}m` } : {};
  return { ...(dice.chance(0.1) ? command : service), ...timeout, onFailure: dice.chance(0.2) ? 'revert' : 'pause' };
}

/** Regions fail and return, and a deploy continues without them. */
function withDisaster(dice: Dice, story: Scenario): Scenario {
  if (!dice.chance(0.3)) return story;
  const lose = (): Happening => {
    const fault = { kind: 'region', id: dice.of(...story.jobs).region, downMs: dice.int(5, 180) * MINUTE };
    return { atMs: dice.chance(0.3) ? 0 : dice.time(HORIZON_MS / 2), kind: 'fault', fault };
  };
  return happening(
    withDeploy(story, () => ({ onUnitUnavailable: 'skip' })),
    [lose(), ...dice.times(1, lose)],
  );
}

/** An emergency that needs approval; another person may approve or reject it, or its author tries to. */
function withApprovals(dice: Dice, story: Scenario): Scenario {
  const push = story.happenings.find(({ kind }) => kind === 'push');
  if (push === undefined || !dice.chance(0.5)) return story;
  const owners = ['user:alice', 'user:bob'];
  const source = { ...story.source, owners, emergency: { approvals: 1, timeout: '1h' } };
  const pick = (): Happening => {
    const input = { actor: dice.of('user:bob', 'user:bob', ...owners), reason: 'chaos', approve: dice.chance(0.8) };
    const atMs = push.atMs + dice.time(HOUR);
    return { atMs, kind: 'command', to: 'release', verb: 'pick', input: { ...input, action: 'deploy' }, twice: false };
  };
  return happening({ ...story, source }, dice.times(3, pick));
}

/** A canary of a few tasks of one job, before the deploy or next to it; not with lockstep. */
function withCanaries(dice: Dice, story: Scenario): Scenario {
  const { deploy } = story.source.actions;
  if (!dice.chance(0.2) || deploy.with.lockstep) return story;
  const isFirst = dice.chance(0.5);
  const canary = {
    type: 'canary' as const,
    inputs: ['executable'],
    retry: { attempts: dice.of(...CANARY_ATTEMPTS) },
    with: {
      pushType: 'twine',
      config: { jobs: [dice.of(...story.jobs).name] },
      amount: dice.int(1, 3),
      bake: `${dice.int(1, 15)}m`,
      healthChecks: deploy.with.healthChecks ?? [],
    },
  };
  const actions = { ...story.source.actions, canary, deploy: { ...deploy, ...(isFirst ? { needs: ['canary'] } : {}) } };
  return { ...story, source: { ...story.source, actions } };
}

/** Groups by region or tier instead of by unit; an emergency that does not bake. */
function withGroups(dice: Dice, story: Scenario): Scenario {
  const [pauseBy, skipBake] = [dice.of('region', 'tier'), dice.chance(0.5)];
  const happenings = story.happenings.map((it) => (it.kind === 'push' && skipBake ? { ...it, skipBake } : it));
  return {
    ...withDeploy(story, ({ mode }) => (mode === 'parallel' && dice.chance(0.4) ? { pauseBy } : {})),
    happenings,
  };
}

function withDeploy(story: Scenario, change: (deploy: DeployWith) => Partial<DeployWith>): Scenario {
  const { deploy } = story.source.actions;
  return {
    ...story,
    source: { ...story.source, actions: { deploy: { ...deploy, with: { ...deploy.with, ...change(deploy.with) } } } },
  };
}
