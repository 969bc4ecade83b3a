import type { Hono } from 'hono';
import {
  ExtensionError,
  servePushType,
  type Call,
  type Implementation,
  type JudgeRequest,
  type JudgeResponse,
  type PushTypeProtocol,
  type ServeOptions,
  type Target,
} from '../../sdk';
import {
  acceptUpdate,
  countLacking,
  deployOf,
  describeUnit,
  healthTasks,
  trackUpdate,
  unitOf,
  updateCommands,
} from '../../sdk/updates';
import type { CommitFleet } from './commitFleet';
import { adoptValues, forgetOrigins, getDefinition, rememberValue, viewState, type CommitState } from './commitState';
import { findFieldValue, ValueError } from './fieldValue';
import { pickReadValues } from './readings';
import type { DeployConfigProblem, ConfigUnits } from './units';

/** `judgeTargets` or `remoteJudge` of the sdk, with a data source. */
export type CommitJudge = (request: Omit<JudgeRequest, 'query'>, call: Call) => Promise<JudgeResponse>;

export interface GitCommitPushTypeOptions extends ServeOptions {
  readonly judge: CommitJudge;
}

/** The push type for deploys by commits. Calls read, or record the desired state and answer; `CommitFleet.step` does the work. */
export function gitCommitPushType(fleet: CommitFleet, { judge, ...serving }: GitCommitPushTypeOptions): Hono {
  return servePushType('git-commit', { ...answerReads(fleet, judge), ...answerCommits(fleet) }, serving);
}

type CommitMethods = Implementation<PushTypeProtocol>;
type ReadMethods = 'validateConfig' | 'fetchDeployUnits' | 'needsPush' | 'trackUpdates' | 'runHealthChecks';
type CallPlace = Pick<Call, 'context'>;

/** The methods that change nothing. */
const answerReads = (fleet: CommitFleet, judge: CommitJudge): Pick<CommitMethods, ReadMethods> => ({
  validateConfig: async ({ version, artifacts = [] }, { context }) => {
    const { units, problems } = fleet.readConfig(context.config, context.pipeline);
    if (problems.length > 0) return { problems: [...problems] };
    const strangers = findStrangers(fleet, { units }, context.pipeline);
    if (strangers.length > 0) return { problems: strangers };
    const fields = (await fleet.learn(units)).map((message) => ({ path: 'config.field', message }));
    const names = [...units.keys()];
    return {
      problems: [...fields, ...(version === undefined ? [] : findValueProblems(fleet, names, { version, artifacts }))],
    };
  },

  fetchDeployUnits: async (_, call) => {
    const { service, units } = await openUnits(fleet, call);
    return {
      service,
      units: [...units.keys()].map((id) => {
        const { version, ...rest } = describeUnit(viewUnit(fleet, id, call.context.deployId), id);
        const repository = fleet.findRepository(id);
        const troubles = [...(repository?.readings(id).values() ?? [])].filter((one) => 'trouble' in one);
        const available = repository?.problem === undefined && troubles.length === 0;
        return { id, labels: fleet.labels(id), ...rest, version: version || null, available };
      }),
    };
  },

  needsPush: async ({ targets }, call) => {
    await openUnits(
      fleet,
      call,
      targets.map(({ unit }) => unit),
    );
    return {
      units: targets.map((target) => countLacking(viewUnit(fleet, target.unit, call.context.deployId), target)),
    };
  },

  trackUpdates: (request) => trackUpdate(fleet.state, request),

  runHealthChecks: async ({ targets, checks, baseline, now }, call) => {
    await openUnits(fleet, call, targets.units);
    const tasks = targets.units.map((unit) => healthTasks(fleet.state, unit, targets, baseline));
    return judge({ targets: tasks, checks, baseline, now }, call);
  },
});

/** The methods that change the desired state. */
const answerCommits = (fleet: CommitFleet): Omit<CommitMethods, ReadMethods> => ({
  executeUpdates: async (request, call) => {
    const { key, context } = call;
    const names = request.targets.map(({ unit }) => unit);
    const { service } = await openUnits(fleet, call, names);
    return fleet.memory.once('executeUpdates', request, key, () => {
      const state: CommitState = fleet.state;
      if (!state.updates[request.updateId]) {
        const values = request.targets.map((target) => readTarget(fleet, target));
        for (const target of request.targets)
          if (target.updatedBy === undefined) adoptUnit(fleet, target.unit, deployOf(request.updateId));
        acceptUpdate({ state, copies: { hasVersion: () => true } }, request, { service, fence: context.fence });
        request.targets.forEach(({ unit, version }, nth) => rememberValue(state, unit, version, values[nth] ?? ''));
        const { pipeline, release, actor } = context;
        (state.origins ??= {})[request.updateId] = { pipeline, release, actor };
        forgetOrigins(state);
      }
      return { accepted: names };
    });
  },

  ...updateCommands(fleet.memory),
});

/** The units of the config, learnt and read anew. @throws ExtensionError if the config has problems, or does not name one of `wanted` */
async function openUnits(fleet: CommitFleet, { context }: CallPlace, wanted?: readonly string[]): Promise<ConfigUnits> {
  const found = fleet.readConfig(context.config, context.pipeline);
  const [problem] = [...found.problems, ...findStrangers(fleet, found, context.pipeline)];
  if (problem !== undefined) throw new ExtensionError('invalid-config', `${problem.path}: ${problem.message}`);
  const missing = wanted?.find((unit) => !found.units.has(unit));
  if (missing !== undefined)
    throw new ExtensionError('unknown-unit', `there is no unit ${missing} here, or not in config.environments`, {
      status: 404,
    });
  const problems = await fleet.learn(found.units);
  const unknown = [...found.units.keys()].find((unit) => fleet.state.units[unit] === undefined);
  if (unknown !== undefined) throw new ExtensionError('unusable-field', problems[0] ?? `${unknown} cannot be read`);
  return found;
}

/** A unit belongs to the pipeline that named it first: another pipeline with other files would make one of two fields of it. */
function findStrangers(
  fleet: CommitFleet,
  { units }: Pick<ConfigUnits, 'units'>,
  pipeline: string,
): DeployConfigProblem[] {
  return [...units].flatMap(([unit, { field, paths, repository }]) => {
    const before = fleet.state.definitions?.[unit];
    const isSame =
      before &&
      JSON.stringify([before.repository, before.field, before.paths]) === JSON.stringify([repository, field, paths]);
    if (before === undefined || before.pipeline === pipeline || isSame) return [];
    const message = `the pipeline ${before.pipeline} deploys ${unit} to other files: choose another name of the service`;
    return [{ path: 'config.service', message }];
  });
}

function findValueProblems(
  fleet: CommitFleet,
  units: readonly string[],
  target: Pick<Target, 'version' | 'artifacts'>,
): DeployConfigProblem[] {
  const messages = units.flatMap((unit) => {
    if (fleet.state.definitions?.[unit] === undefined) return [];
    try {
      findFieldValue(getDefinition(fleet.state, unit), target, fleet.state.values?.[unit]);
      return [];
    } catch (error) {
      if (error instanceof ValueError) return [error.message];
      throw error;
    }
  });
  return [...new Set(messages)].map((message) => ({ path: 'version', message }));
}

/** The text for a target. @throws ExtensionError for a version without one, and for a share of a single cluster */
function readTarget({ state }: CommitFleet, target: Target): string {
  const { unit, amount, updatedBy } = target;
  const size = unitOf(state, unit).slots.filter(({ gone }) => !gone).length;
  if (size === 1 && amount !== undefined && 'percent' in amount && amount.percent < 100 && updatedBy === undefined)
    throw new ExtensionError(
      'amount-below-unit',
      `${amount.percent}% of ${unit} is less than its one cluster, which a commit changes as a whole: write amount: 100%, or a share of the units such as amount: { units: ${amount.percent}% }`,
    );
  try {
    return findFieldValue(getDefinition(state, unit), target, state.values?.[unit]);
  } catch (error) {
    if (error instanceof ValueError) throw new ExtensionError('unknown-version', error.message, { status: 404 });
    throw error;
  }
}

function adoptUnit(fleet: CommitFleet, unit: string, deployId: string): void {
  adoptValues(fleet.state, unit, deployId, pickReadValues(fleet.findRepository(unit)?.readings(unit)));
}

const viewUnit = (fleet: CommitFleet, unit: string, deployId: string): CommitState =>
  viewState(fleet.state, unit, deployId, pickReadValues(fleet.findRepository(unit)?.readings(unit)));
