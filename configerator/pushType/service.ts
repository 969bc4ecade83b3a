import { isOwned } from '../domain/ownership';
import type { Content } from '../domain/subscriber';
import { ExtensionError } from '../../sdk/server';
import type { Service } from './memory';

/** The `config` of a deploy. */
export interface ConfigPush {
  readonly repository: string;
  /** The paths that the pipeline owns; a final slash means all below. */
  readonly paths: readonly string[];
}

/** `flags/feed` for the paths `feed/` of the repository `flags`. */
export const serviceName = ({ repository, paths }: ConfigPush): string =>
  [repository, ...paths.map((path) => path.replace(/\/$/, '')).filter((path) => path !== '')]
    .slice(0, 2)
    .join('/')
    .concat(...paths.slice(1).map((path) => `+${path.replace(/\/$/, '')}`));

export const newService = ({ repository, paths }: ConfigPush): Service => ({
  ...{ repository, paths, committed: 'none', head: null },
  ...{
    contents: {},
    commits: {},
    changes: {},
    hosts: {},
    emptySince: {},
    former: [],
    exposed: {},
    shares: {},
    replaced: {},
    interrupted: [],
  },
});

/** @throws ExtensionError if a change exceeds the paths of the pipeline */
export function refuseForeign({ paths }: ConfigPush, version: string, content: Content): void {
  const foreign = Object.keys(content).find((path) => !isOwned(paths, path));
  if (foreign === undefined) return;
  const text = `${version} changes ${foreign}, which config.paths does not name: ${paths.join(', ')}; propose separate changes for different pipelines, or let one pipeline own all of it`;
  throw new ExtensionError('not-deployable', text, { status: 409 });
}
