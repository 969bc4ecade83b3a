import type { Hono } from 'hono';
import { whyCannotFind } from '../../domain/finder/standard';
import type { Subscription } from '../../sdk/protocol/artifactFinder';
import { serveArtifactFinder } from '../../sdk/server';
import type { Simulation } from '../simulation';
import { catalogKey } from './artifactCatalog';
import type { CatalogEntry } from '../state';

/** The catalog key of each standard finder that needs a service, from a validated `with`. */
const CATALOG_KEYS: Readonly<Record<string, (wanted: Readonly<Record<string, string>>) => string>> = {
  commits: ({ repository = '', branch = '' }) => catalogKey('commits', repository, branch),
  'tagged-executables': ({ package: name = '', tag = '' }) => catalogKey('tagged-executables', name, tag),
  'latest-build': ({ target, package: name = '' }) =>
    target === undefined ? catalogKey('latest-build', 'package', name) : catalogKey('latest-build', 'target', target),
  'model-versions': ({ model = '' }) => catalogKey('model-versions', model),
  'config-changes': ({ path = '' }) => catalogKey('config-changes', path),
};

/** The standard finders of the simulated world, by name. Their cursor is the stamp of the newest entry that they found. */
export const finderServices = (simulation: Simulation): [name: string, app: Hono][] =>
  Object.entries(CATALOG_KEYS).map(([name, place]) => [name, finderService(simulation, name, place)]);

function finderService(simulation: Simulation, name: string, place: (typeof CATALOG_KEYS)[string]): Hono {
  return serveArtifactFinder(name, {
    getArtifacts: ({ subscriptions, cursor }) => {
      const { shelf, lastStamp } = simulation.state;
      const since = stampOfCursor(cursor, lastStamp);
      const refused = subscriptions.flatMap((asked) => subscriptionRefusals(name, asked));
      const found = subscriptions.flatMap(({ pipeline, artifact, with: wanted }) => {
        if (whyCannotFind(name, wanted) !== undefined) return [];
        const newest = shelf.get(place(wanted as Record<string, string>));
        return newest === undefined || newest.stamp <= since
          ? []
          : [{ pipeline, artifact: toNamedArtifact(artifact, newest) }];
      });
      return { found, cursor: String(lastStamp), refused };
    },
  });
}

/** A cursor from before a reset, or from another world, counts as none. */
function stampOfCursor(cursor: string | undefined, lastStamp: number): number {
  const stamp = cursor === undefined ? NaN : Number(cursor);
  return stamp <= lastStamp ? stamp : -1;
}

function subscriptionRefusals(name: string, { pipeline, artifact, with: wanted }: Subscription) {
  const message = whyCannotFind(name, wanted);
  return message === undefined ? [] : [{ pipeline, artifact, message }];
}

const toNamedArtifact = (name: string, { artifact }: CatalogEntry) => ({
  ...artifact,
  name,
  metadata: { ...artifact.metadata },
});
