import { sameJson } from '../json';
import type { DeployAction, PipelineSpec } from '../spec/pipeline';
import type { PipelineState } from './state';

type DeployActions = PipelineSpec['actions'];

/**
 * A pipeline with another file. If a deploy action has a new name but the same push type and configuration, its records follow it, so that
 * a revert can go back past the renaming.
 */
export function withSpec(state: PipelineState, spec: PipelineSpec): PipelineState {
  const renamed = findRenamedDeploys(state.spec.actions, spec.actions);
  const offered = state.spec.offers || spec.offers ? { offered: true as const } : {};
  if (renamed.size === 0) return { ...state, spec, ...offered };
  const follow = <T>(records: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
    Object.fromEntries(Object.entries(records).map(([name, record]) => [renamed.get(name) ?? name, record]));
  const { good, inherited, newestBegun, begunAt, uses } = state;
  return {
    ...state,
    ...{ spec, good: follow(good), inherited: follow(inherited), newestBegun: follow(newestBegun) },
    ...(begunAt ? { begunAt: follow(begunAt) } : {}),
    ...(uses ? { uses: follow(uses) } : {}),
    ...offered,
  };
}

/** The name that a deploy of a file has in an earlier one. */
export function findFormerName(before: DeployActions, after: DeployActions, name: string): string {
  const [former = name] = [...findRenamedDeploys(before, after)].find(([, is]) => is === name) ?? [];
  return former;
}

/** New names by old ones; an ambiguous name is left out. */
function findRenamedDeploys(before: DeployActions, after: DeployActions): ReadonlyMap<string, string> {
  const gone = deploysBut(before, after);
  const fresh = deploysBut(after, before);
  const pairs = gone.flatMap(([old, was]) => {
    const [only, ...others] = fresh.filter(([, action]) => deploysTheSame(was, action));
    const rivals = gone.filter(([name, action]) => name !== old && deploysTheSame(was, action));
    return only && others.length + rivals.length === 0 ? [[old, only[0]] as const] : [];
  });
  return new Map(pairs);
}

const deploysTheSame = ({ with: was }: DeployAction, { with: is }: DeployAction): boolean =>
  was.pushType === is.pushType && sameJson(was.config, is.config);

const deploysBut = (actions: DeployActions, others: DeployActions): (readonly [string, DeployAction])[] =>
  Object.entries(actions).flatMap(([name, action]) =>
    action.type === 'deploy' && !Object.hasOwn(others, name) ? [[name, action] as const] : [],
  );
