import { isPackagePath } from '../domain/vessel/package';
import { ExtensionError } from '../../sdk/server';
import type { ConfigFleet } from '../pushType/fleet';
import type { Deployable } from '../pushType/pushType';

/**
 * A fleet of configuration as the push type `model` sees it: services whose paths name models. A task is live once its
 * host has the value and its applications have loaded the model that it names; until they do it is never live.
 * `prepare` rejects with the ExtensionError `not-deployable` for any other path.
 */
export const restrictToModels = (fleet: ConfigFleet): Deployable => ({
  memory: fleet.memory,
  prepare: (config, versions) => {
    const foreign = config.paths.find((path) => !isPackagePath(path));
    if (foreign === undefined) return fleet.prepare(config, versions);
    const text = `${foreign || 'everything'} is not a model: paths of the push type model begin with models/; others are for the push type config`;
    return Promise.reject(new ExtensionError('not-deployable', text, { status: 409 }));
  },
  whyNotDeployed: (...asked) => fleet.whyNotDeployed(...asked),
  refuseBusyPaths: (...path) => fleet.refuseBusyPaths(...path),
  landingWait: (name) => fleet.landingWait(name),
  step: (name) => fleet.step(name),
});
