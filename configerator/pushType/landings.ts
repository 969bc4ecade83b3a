import type { TurnWait } from '../../domain/fleet/unit';
import { plural } from '../../domain/text';
import { ExtensionError } from '../../sdk/server';
import { unfinished } from '../../sdk/updates/choose';
import { keepCommitted, setCommitted } from './committedVersion';
import type { WantedLanding, PathCommit, Service } from './memory';
import type { ConfigPorts } from './ports';
import type { ConfigServiceState } from './serviceState';

/**
 * Versions on their way to the branch. A landing begun here continues until it has an answer; after a crash, the next
 * process begins it again.
 */
export class Landings {
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(private readonly ports: ConfigPorts) {}

  isUnderWay(name: string): boolean {
    return this.underWay.has(name);
  }

  /** Why a pending version does not land yet, and how many go first; undefined if it is landing, or none is pending. */
  waitOf({ repository, landing }: Service): TurnWait | undefined {
    const change = landing?.change;
    if (change === undefined) return undefined;
    const ahead = this.ports.landBefore?.(repository, change);
    return ahead === undefined
      ? undefined
      : { ahead, reason: `change ${change} waits to land, after ${plural(ahead, 'other')}` };
  }

  /** Resolves once no landing is pending. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay.values());
  }

  /** Resolves at once; the result appears in `service.landing` at a later call. */
  async advance(name: string, service: Service, save: () => void): Promise<void> {
    const { landing } = service;
    if (landing === undefined || landing.refused !== undefined || landing.commit !== undefined) return;
    if (this.underWay.has(name)) return;
    const attempt = this.attempt(service, landing, save)
      .catch((error: unknown) => {
        if (error instanceof ExtensionError && !error.retryable) landing.refused = error.message;
        else this.ports.log(`${name}: ${landing.version} does not land yet: ${String(error)}`);
      })
      .finally(() => {
        this.underWay.delete(name);
        save();
      });
    this.underWay.set(name, attempt);
    // A result without a wait is available at once.
    await Promise.race([attempt, Promise.resolve()]);
  }

  private async attempt(service: Service, landing: WantedLanding, save: () => void): Promise<void> {
    const { repository } = service;
    const { version, ahead } = landing;
    // Files of earlier versions have 0 if nothing was to land.
    const change = landing.change || (await this.changeFor(service, landing));
    if (change === null) {
      landing.commit = service.head ?? '';
      return;
    }
    landing.change = change;
    save();
    // Exactly the judged commit of the change lands, not a replacement.
    const commit = version.startsWith(`${change}@`) ? { commit: version.slice(`${change}@`.length) } : {};
    const landed = await this.ports.land({ repository, change, ahead, ...commit });
    if ('commit' in landed) landing.commit = landed.commit;
    else landing.refused = `change ${landing.change} does not land: ${landed.refused.message}`;
  }

  /**
   * The change itself; for a removal, a new change that deletes the paths; for a formerly committed version, one that restores it. Null if nothing differs.
   * @throws ExtensionError `unknown-version` for a version with an unknown number
   */
  private async changeFor(service: Service, { version, ahead }: WantedLanding): Promise<number | null> {
    const { repository, paths, commits, changes, committed, requester, removals } = service;
    const before = commits[version];
    const since = removals?.[version];
    if (before === undefined && since !== undefined)
      return this.ports.changes.remove(repository, paths, since, requester);
    if (before === undefined) return changes[version] ?? unknownChange(version);
    const own = ahead ? (changes[committed] ?? null) : null;
    return this.ports.changes.restore(repository, paths, before, own, requester);
  }

  /** Whether hosts read it from the store. */
  async isInStore({ repository, landing }: Service): Promise<boolean> {
    if (landing?.commit === undefined) return false;
    const head = await this.ports.storeOf(repository).head(repository);
    return head !== undefined && this.ports.changes.contains(repository, head.commit, landing.commit);
  }
}

function unknownChange(version: string): never {
  const text = `the change of ${version} is unknown, so it cannot land`;
  throw new ExtensionError('unknown-version', text, { status: 409 });
}

/** Lands the version that every unit is to get, unless it is committed. */
export async function landWhole(served: ConfigServiceState, landings: Landings, ports: ConfigPorts): Promise<void> {
  const { name, service } = served;
  decideLanding(served, landings.isUnderWay(name));
  if (service.landing === undefined) return;
  service.landing.before ??= await pathCommits(service, service.landing.version, ports);
  await landings.advance(name, service, () => served.save());
  failRefusedLanding(served, service.landing);
  if (await landings.isInStore(service)) {
    commitVersion(service, service.landing.version);
    await keepCommitted(served, ports, service.contents[service.committed]);
    service.landing = undefined;
  }
}

async function pathCommits({ repository, contents }: Service, version: string, { storeOf }: ConfigPorts) {
  const paths = Object.keys(contents[version] ?? {});
  const values = await Promise.all(paths.map((path) => storeOf(repository).read(repository, path)));
  return Object.fromEntries(
    paths.map((path, index): [string, PathCommit] => {
      const { commit = null, sequence = 0 } = values[index] ?? {};
      return [path, { commit, sequence }];
    }),
  );
}

/** Fails the updates to the refused version; an update that reverts it completes without a landing. */
function failRefusedLanding(served: ConfigServiceState, landing: WantedLanding): void {
  const { version, refused, refusedTo } = landing;
  if (refused === undefined || refusedTo !== undefined) return;
  landing.refusedTo = listDecidingUpdates(served);
  for (const unit of served.units)
    for (const id of unfinished(served.state, unit))
      if (served.state.updates[id]?.units[unit]?.version === version) served.fail(unit, refused, [id]);
}

/**
 * A landing request must be answered before anything else lands. It may land even if the answer was lost, so it is sent
 * again.
 */
function decideLanding(served: ConfigServiceState, isUnderWay: boolean): void {
  const { service, bound } = served;
  const { landing } = service;
  if (isUnderWay || (landing !== undefined && isSent(landing))) return;
  if (bound === undefined) service.landing = undefined;
  else if ((landing?.version !== bound.version || isNewTry(served, landing)) && !bound.isHeld)
    service.landing = { version: bound.version, ahead: bound.isAhead };
}

const isNewTry = (served: ConfigServiceState, { refusedTo }: WantedLanding): boolean =>
  refusedTo !== undefined && listDecidingUpdates(served).some((update) => !refusedTo.includes(update));

/** The updates that determine the versions of units. */
const listDecidingUpdates = (served: ConfigServiceState): (string | null)[] =>
  served.units.map((unit) => served.unit(unit).update);

const isSent = ({ change = 0, commit, refused }: WantedLanding): boolean =>
  refused === undefined && (change > 0 || commit !== undefined);

/** From now on, joining hosts get this version. */
function commitVersion(service: Service, version: string): void {
  const { landing, committed: from } = service;
  setCommitted(service, version);
  if (landing?.commit !== undefined && landing.commit !== '') {
    service.commits[version] = landing.commit;
    service.head = landing.commit;
    service.landed = { commit: landing.commit, before: landing.before ?? {}, from };
  }
}
