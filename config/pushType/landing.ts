import type { TurnWait } from '../../domain/fleet/unit';
import { plural } from '../../domain/text';
import { ExtensionError } from '../../sdk/server';
import { unfinished } from '../../sdk/updates/choose';
import { keepCommitted, setCommitted } from './committed';
import type { WantedLanding, PathCommit, Service } from './memory';
import type { ConfigPorts } from './ports';
import type { Served } from './served';

/** Versions on their way to the branch. What was begun here continues until it is answered; who comes after a crash begins it again. */
export class Landings {
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(private readonly ports: ConfigPorts) {}

  isUnderWay(name: string): boolean {
    return this.underWay.has(name);
  }

  /** Why a version that is to land does not yet, and how many go first; undefined while it does, or none is to. */
  waitOf({ repository, landing }: Service): TurnWait | undefined {
    const change = landing?.change;
    if (change === undefined) return undefined;
    const ahead = this.ports.landBefore?.(repository, change);
    return ahead === undefined
      ? undefined
      : { ahead, reason: `change ${change} waits to land, after ${plural(ahead, 'other')}` };
  }

  /** Resolves once nothing is on its way. */
  async idle(): Promise<void> {
    await Promise.all(this.underWay.values());
  }

  /** Resolves at once; whatever it comes to is in `service.landing` at some later call. */
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
    // What needs no waiting is there at once.
    await Promise.race([attempt, Promise.resolve()]);
  }

  private async attempt(service: Service, landing: WantedLanding, save: () => void): Promise<void> {
    const { repository } = service;
    const { version, ahead } = landing;
    // A file of an earlier version has 0 where nothing was to land.
    const change = landing.change || (await this.changeFor(service, landing));
    if (change === null) {
      landing.commit = service.head ?? '';
      return;
    }
    landing.change = change;
    save();
    // The change lands as it was judged, and not as somebody has replaced it.
    const commit = version.startsWith(`${change}@`) ? { commit: version.slice(`${change}@`.length) } : {};
    const landed = await this.ports.land({ repository, change, ahead, ...commit });
    if ('commit' in landed) landing.commit = landed.commit;
    else landing.refused = `change ${landing.change} does not land: ${landed.refused.message}`;
  }

  /**
   * The change itself; of a version that was committed before a new one, which brings back what it was, or null where nothing differs.
   * @throws ExtensionError `unknown-version` for one whose number nobody knows
   */
  private async changeFor(service: Service, { version, ahead }: WantedLanding): Promise<number | null> {
    const { repository, paths, commits, changes, committed } = service;
    const before = commits[version];
    if (before === undefined) return changes[version] ?? unknownChange(version);
    return this.ports.changes.restore(repository, paths, before, ahead ? (changes[committed] ?? null) : null);
  }

  /** Whether hosts read it from the store. */
  async isInStore({ repository, landing }: Service): Promise<boolean> {
    if (landing?.commit === undefined) return false;
    const head = await this.ports.storeOf(repository).head(repository);
    return head !== undefined && this.ports.changes.contains(repository, head.commit, landing.commit);
  }
}

function unknownChange(version: string): never {
  const text = `nobody knows which change ${version} is, so it cannot land`;
  throw new ExtensionError('unknown-version', text, { status: 409 });
}

/** What every unit is to be on, and is not committed, lands. */
export async function landWhole(served: Served, landings: Landings, ports: ConfigPorts): Promise<void> {
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

/** Of the updates that bring it; one that takes it back is through without. */
function failRefusedLanding(served: Served, landing: WantedLanding): void {
  const { version, refused, refusedTo } = landing;
  if (refused === undefined || refusedTo !== undefined) return;
  landing.refusedTo = deciding(served);
  for (const unit of served.units)
    for (const id of unfinished(served.state, unit))
      if (served.state.updates[id]?.units[unit]?.version === version) served.fail(unit, refused, [id]);
}

/** What was sent to the landing strip is answered before anything else lands. It may land whatever became of the answer, so it is asked again. */
function decideLanding(served: Served, isUnderWay: boolean): void {
  const { service, bound } = served;
  const { landing } = service;
  if (isUnderWay || (landing !== undefined && isSent(landing))) return;
  if (bound === undefined) service.landing = undefined;
  else if ((landing?.version !== bound.version || isNewTry(served, landing)) && !bound.isHeld)
    service.landing = { version: bound.version, ahead: bound.isAhead };
}

const isNewTry = (served: Served, { refusedTo }: WantedLanding): boolean =>
  refusedTo !== undefined && deciding(served).some((update) => !refusedTo.includes(update));

/** The updates by which units are to be on a version. */
const deciding = (served: Served): (string | null)[] => served.units.map((unit) => served.unit(unit).update);

const isSent = ({ change = 0, commit, refused }: WantedLanding): boolean =>
  refused === undefined && (change > 0 || commit !== undefined);

/** From now on this is what everybody has who joins. */
function commitVersion(service: Service, version: string): void {
  const { landing, committed: from } = service;
  setCommitted(service, version);
  if (landing?.commit !== undefined && landing.commit !== '') {
    service.commits[version] = landing.commit;
    service.head = landing.commit;
    service.landed = { commit: landing.commit, before: landing.before ?? {}, from };
  }
}
