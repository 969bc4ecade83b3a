import type { DeploySpec } from '../deploy';
import type { Rule } from '../lint';
import { errorAt, type Finding, type Path } from '../problem';

/**
 * What the file format has and this version does not execute yet. It is refused, never ignored: somebody who asked for a
 * check before a phase must not get a deploy without. A feature that lands deletes its line here.
 */
type Missing<T> = readonly [feature: string, at: Path, isAsked: (value: T) => boolean];

const OF_DEPLOY: readonly Missing<DeploySpec>[] = [['lockstep', ['lockstep'], ({ lockstep }) => lockstep]];

const OF_PHASE: readonly Missing<NonNullable<DeploySpec['phases']>[number]>[] = [];

function refuse<T>(missing: readonly Missing<T>[], base: Path, value: T): Finding[] {
  return missing
    .filter(([, , isAsked]) => isAsked(value))
    .map(([feature, at]) =>
      errorAt(
        [...base, ...at],
        'not-available',
        `${feature} is part of the file format but not of this version`,
        'remove it for now; it would not take effect',
      ),
    );
}

const notAvailable: Rule = (spec) => [
  ...Object.entries(spec.actions).flatMap(([name, action]) =>
    action.type === 'deploy' ? refuseInDeploy(['actions', name, 'with'], action.with) : [],
  ),
];

const refuseInDeploy = (base: Path, deploy: DeploySpec): Finding[] => [
  ...refuse(OF_DEPLOY, base, deploy),
  ...(deploy.phases ?? []).flatMap((phase, index) => refuse(OF_PHASE, [...base, 'phases', index], phase)),
];

export const notAvailableRules: readonly Rule[] = [notAvailable];
