import { Context } from '@temporalio/activity';
import type { ProgramWalls } from '../configerator/compiler/walls';
import { Lander } from '../configerator/repository/land';
import { ConfigRepository } from '../configerator/repository/repository';
import { TextCache } from '../configerator/textCache';
import { conveyorError } from '../domain/errors';
import type { Landing } from '../configerator/domain/landing';
import type { ConfigRepositorySettings } from '../settings/configRepositories';
import { withHeartbeats, type Clock } from './clock';
import { asFailure } from './failure';

export interface LandingPorts {
  readonly clock: Clock;
  readonly registry: { readonly configRepositories: readonly ConfigRepositorySettings[] };
  /** The folder with the copies of repositories. */
  readonly copies: string;
  /** The isolation of the programs of changes on this machine. */
  programs(): Promise<ProgramWalls>;
}

export interface LandingInput {
  readonly repository: string;
  readonly changes: readonly number[];
  /** The required commit of a change, if there is one. */
  readonly commits?: Readonly<Record<number, string>>;
  readonly heartbeatTimeoutMs: number;
}

export interface LandingActivities {
  /** Lands changes in order; for a change that has already landed, the answer is its commit. */
  landChanges(input: LandingInput): Promise<readonly Landing[]>;
}

/**
 * The size of the cache of compilations, for all repositories together; an entry that was dropped is compiled again.
 */
const REMEMBERED_CHARS = 64 * 1024 * 1024;

export function createLandingActivities({ clock, registry, copies, programs }: LandingPorts): LandingActivities {
  const landers = new Map<string, Promise<Lander>>();
  const memory = new TextCache(REMEMBERED_CHARS);
  const landerOf = async (name: string): Promise<Lander> => {
    const known = registry.configRepositories.find((one) => one.name === name);
    if (known === undefined) {
      const names = registry.configRepositories.map((one) => one.name);
      throw conveyorError('unknown-extension', { kind: 'repository of configuration', name, known: names });
    }
    const ref = { ...known, programs: await programs() };
    const key = JSON.stringify([name, known.git, known.branch, ref.programs]);
    const lander = landers.get(key) ?? ConfigRepository.open(ref, copies).then((opened) => new Lander(opened, memory));
    landers.set(key, lander);
    // A copy that could not be opened is opened again.
    lander.catch(() => landers.delete(key));
    return lander;
  };
  const attempts = new WeakMap<Lander, Promise<unknown>>();
  return {
    landChanges: ({ repository, changes, commits, heartbeatTimeoutMs }) =>
      asFailure(async () => {
        const lander = await landerOf(repository);
        const { heartbeat } = Context.current();
        // An attempt that was given up may still be at work in this process.
        const earlier = attempts.get(lander) ?? Promise.resolve();
        const landed = earlier.then(async () => lander.land(changes, await clock.now(), commits));
        attempts.set(
          lander,
          landed.catch(() => undefined),
        );
        return withHeartbeats(
          heartbeatTimeoutMs / 3,
          () => heartbeat(),
          () => landed,
        );
      }),
  };
}
