import type { Hono } from 'hono';
import { whyCannotFind } from '../../domain/finder/standard';
import type { Subscription } from '../../sdk/protocol/artifactFinder';
import { serveArtifactFinder } from '../../sdk/server';
import type { Simulation } from '../simulation';
import { shelfKey } from './shelf';
import type { Found } from '../state';

/** Where each standard finder that needs a service looks, from a `with` that was checked. */
const PLACES: Readonly<Record<string, (wanted: Readonly<Record<string, string>>) => string>> = {
  commits: ({ repository = '', branch = '' }) => shelfKey('commits', repository, branch),
  'tagged-executables': ({ package: name = '', tag = '' }) => shelfKey('tagged-executables', name, tag),
  'latest-build': ({ target, package: name = '' }) =>
    target === undefined ? shelfKey('latest-build', 'package', name) : shelfKey('latest-build', 'target', target),
  'model-versions': ({ model = '' }) => shelfKey('model-versions', model),
  'config-changes': ({ path = '' }) => shelfKey('config-changes', path),
};

/** The standard finders of the simulated world, by name. Their cursor is the stamp of the newest thing in it. */
export const finderServices = (simulation: Simulation): [name: string, app: Hono][] =>
  Object.entries(PLACES).map(([name, place]) => [name, finderService(simulation, name, place)]);

function finderService(simulation: Simulation, name: string, place: (typeof PLACES)[string]): Hono {
  return serveArtifactFinder(name, {
    getArtifacts: ({ subscriptions, cursor }) => {
      const { shelf, lastStamp } = simulation.state;
      const since = sinceOf(cursor, lastStamp);
      const refused = subscriptions.flatMap((asked) => refusal(name, asked));
      const found = subscriptions.flatMap(({ pipeline, artifact, with: wanted }) => {
        if (whyCannotFind(name, wanted) !== undefined) return [];
        const newest = shelf.get(place(wanted as Record<string, string>));
        return newest === undefined || newest.stamp <= since ? [] : [{ pipeline, artifact: named(artifact, newest) }];
      });
      return { found, cursor: String(lastStamp), refused };
    },
  });
}

/** A cursor from before a reset, or of another world, stands for nothing. */
function sinceOf(cursor: string | undefined, lastStamp: number): number {
  const stamp = cursor === undefined ? NaN : Number(cursor);
  return stamp <= lastStamp ? stamp : -1;
}

function refusal(name: string, { pipeline, artifact, with: wanted }: Subscription) {
  const message = whyCannotFind(name, wanted);
  return message === undefined ? [] : [{ pipeline, artifact, message }];
}

const named = (name: string, { artifact }: Found) => ({ ...artifact, name, metadata: { ...artifact.metadata } });
