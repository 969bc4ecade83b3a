import { Context } from '@temporalio/activity';
import type { ProgramWalls } from '../config/compiler/walls';
import { Lander } from '../config/repository/land';
import { ConfigRepository } from '../config/repository/repository';
import { TextCache } from '../config/textCache';
import { conveyorError } from '../domain/errors';
import type { Landing } from '../domain/config/landing';
import type { ConfigRepositorySettings } from '../platform/configRepositories';
import { beating, type Clock } from './clock';
import { asFailure } from './failure';

export interface LandingPorts {
  readonly clock: Clock;
  readonly registry: { readonly configRepositories: readonly ConfigRepositorySettings[] };
  /** Where copies of repositories are kept. */
  readonly copies: string;
  /** How programs of the changes are kept in on this machine. */
  programs(): Promise<ProgramWalls>;
}

export interface LandingInput {
  readonly repository: string;
  readonly changes: readonly number[];
  /** By change, where it has to be this one. */
  readonly commits?: Readonly<Record<number, string>>;
  readonly heartbeatTimeoutMs: number;
}

export interface LandingActivities {
  /** Lands changes in order; those that have landed are answered with their commits. */
  landChanges(input: LandingInput): Promise<readonly Landing[]>;
}

/** Results of compilations, of all repositories; one that is forgotten is made again. */
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
    // One that could not be opened is opened anew.
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
        return beating(
          heartbeatTimeoutMs / 3,
          () => heartbeat(),
          () => landed,
        );
      }),
  };
}
