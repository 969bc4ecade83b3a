import { isPackagePath } from '../../domain/vessel/package';
import { ExtensionError } from '../../sdk/server';
import { ConfigFleet } from '../pushType/fleet';

/**
 * Services whose paths name models, for the push type `model`: `configPushType` over this fleet. A task is live there once its host has the
 * value and its applications have loaded what that names; whoever does not load it is never live on it.
 */
export class ModelFleet extends ConfigFleet {
  /** @throws ExtensionError `not-deployable` for what is no model */
  override prepare(...[config, versions]: Parameters<ConfigFleet['prepare']>): ReturnType<ConfigFleet['prepare']> {
    const foreign = config.paths.find((path) => !isPackagePath(path));
    if (foreign === undefined) return super.prepare(config, versions);
    const text = `${foreign || 'everything'} is no model: paths of the push type model begin with models/; others are for the push type config`;
    return Promise.reject(new ExtensionError('not-deployable', text, { status: 409 }));
  }
}
