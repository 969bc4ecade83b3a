import { nameState, type CommittedValue } from '../domain/heldValue';
import { whyNotConfigPath } from '../domain/path';
import { isNewest, isOnLine, isRoundDue, addOverruledStates, wasEverTrue } from '../domain/storeTruth';
import { groupBy } from '../../domain/groupBy';
import { plural } from '../../domain/text';
import { lookUp } from '../repository/commits';
import type { ConfigRepository } from '../repository/repository';
import type { FoundOverride, FoundValue, InspectionResult, Inspection, TrueValue } from '../store/inspection';
import type { HostAcknowledgement, ConfigStore, Head } from '../store/port';
import { BranchLine } from './branchLine';
import { findTrueHead } from './trueHead';
import { getValueFile, findTrueValue, valuesTree } from './trueValue';

export interface MenderPorts {
  readonly open: () => Promise<ConfigRepository>;
  readonly store: Pick<ConfigStore, 'subscribers'>;
  readonly inspection: Inspection;
  /** Checks overrides against the running deploys; resolves to the number of wrong ones. `isAll`: overrides that are not in the list are missing. */
  readonly mendOverrides: (found: readonly FoundOverride[], isAll: boolean) => Promise<number>;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** How often a round looks at recent writes, and how often at everything. */
const NEWS_EVERY_MS = 5_000;
const ALL_EVERY_MS = 60_000;
/** The number of restored paths that are named. */
const PATHS_NAMED = 5;

type CommittedState = Omit<CommittedValue, 'value'>;

/** One round: the records of the store, the acknowledgements of hosts, and git's state of both. */
interface Round {
  readonly repository: ConfigRepository;
  readonly seen: InspectionResult;
  readonly said: readonly HostAcknowledgement[];
  readonly isAll: boolean;
  readonly head: Head;
}

/**
 * Compares the store of a repository with git and restores the true records (docs/design/config.md#what-is-forged), because any process that reaches
 * the store may write there. It also compares acknowledgements with git, because hosts may have values that are no longer in the store.
 */
export class StoreMender {
  private readonly line = new BranchLine();
  private since = 0;
  private last = { endedAtMs: -Infinity, tookMs: 0 };
  private lastAll = { endedAtMs: -Infinity, tookMs: 0 };

  constructor(private readonly ports: MenderPorts) {}

  /**
   * The number of restored records; also 0 if no round is due. @throws ConveyorError `config-branch-rewritten`, and errors of store and repository
   */
  async look(): Promise<number> {
    const { now } = this.ports;
    const begunAtMs = now();
    const isAll = this.since === 0 || isRoundDue(begunAtMs, this.lastAll, ALL_EVERY_MS);
    if (!isAll && !isRoundDue(begunAtMs, this.last, NEWS_EVERY_MS)) return 0;
    const mended = await this.round(isAll);
    this.last = { endedAtMs: now(), tookMs: now() - begunAtMs };
    if (isAll) this.lastAll = this.last;
    return mended;
  }

  /** Reads the branch last, so that it contains every true record seen before. */
  private async round(isAll: boolean): Promise<number> {
    const { inspection, store, mendOverrides } = this.ports;
    const repository = await this.ports.open();
    const { name } = repository.ref;
    const said = isAll ? await store.subscribers(name, '') : [];
    const seen = await inspection.look(name, isAll ? 0 : this.since);
    const branch = await repository.head();
    if (branch === null) return 0;
    await this.line.follow(repository.git, branch);
    const { it, fault, isOwn } = seen.head;
    const head = await findTrueHead(repository, this.line, seen, inspection.isSigned);
    const isRight = fault === undefined && head.sequence === (it?.sequence ?? 0) && (it?.commit ?? '') === head.commit;
    // Without a true head, only all values together show which commit the store holds.
    if (!isRight && !isAll) return this.round(true);
    const isWrong = !isRight || !isOwn;
    const overrides = await mendOverrides(seen.overrides, isAll);
    const values = await this.mendValues(
      { repository, seen, said, isAll, head },
      isWrong && (seen.headAt > 0 || head.sequence > 0),
    );
    if (isAll) await this.refreshHosts(name, seen, said);
    // If a commit is only partly there, check everything again, because that state may be forged.
    this.since = values === null || it?.partly !== undefined ? 0 : seen.revision;
    return overrides + (values ?? 0);
  }

  /** The number of records restored; null if the head has moved meanwhile. */
  private async mendValues(round: Round, isHeadWrong: boolean): Promise<number | null> {
    const { repository, seen, head } = round;
    const forged = await this.forgedStates(round);
    const wrong = head.sequence === 0 ? [] : await this.wrongValues(round, forged);
    if (wrong.length === 0 && !isHeadWrong) return 0;
    const { inspection, log } = this.ports;
    const { name } = repository.ref;
    const what = { values: wrong, head: isHeadWrong ? head : undefined };
    if (!(await inspection.putBack(name, seen.headAt, what))) return null;
    const named = wrong.slice(0, PATHS_NAMED).map(({ path }) => path);
    const more = wrong.length > PATHS_NAMED ? ` and ${wrong.length - PATHS_NAMED} more` : '';
    if (isHeadWrong) log(`${name}: the head of the store is restored to commit ${head.sequence} of the branch`);
    if (wrong.length > 0)
      log(`${name}: ${plural(wrong.length, 'value')} of the store restored from git: ${named.join(', ')}${more}`);
    return wrong.length + (isHeadWrong ? 1 : 0);
  }

  /** By path: states that hosts have or had and that were never on the branch. */
  private async forgedStates({
    repository,
    seen,
    said,
  }: Round): Promise<ReadonlyMap<string, readonly CommittedState[]>> {
    const stored = new Set(seen.values.flatMap(({ path, it }) => (it ? [`${path} ${nameState(it)}`] : [])));
    const ofHosts = said.flatMap(({ path, version, commit, sequence = 0 }) =>
      commit === null ? [] : [{ path, version, commit, sequence }],
    );
    const odd = ofHosts.filter((state) => !stored.has(`${state.path} ${nameState(state)}`));
    const all = [...odd, ...seen.values.flatMap(({ path, it }) => (it ? [{ path, ...it }] : []))];
    const known = all.filter(({ path }) => whyNotConfigPath(path) === undefined);
    const atCommits = await this.blobsAt(repository, known);
    const forged = known.filter((state, index) => !wasEverTrue(this.line, state, atCommits[index] ?? null));
    return new Map(groupBy(forged, ({ path }) => path));
  }

  /** For each state on the branch, the blob of its path at its commit. */
  private async blobsAt(
    { git }: ConfigRepository,
    states: readonly (CommittedState & { readonly path: string })[],
  ): Promise<readonly (string | null)[]> {
    const asked = states.map((state) =>
      isOnLine(this.line, state) ? `${state.commit}:${getValueFile(state.path)}` : '',
    );
    const places = [...new Set(asked.filter((place) => place !== ''))];
    const found = await lookUp(git, places);
    const blobs = new Map(places.map((place, index) => [place, found[index]?.id ?? null]));
    return asked.map((place) => blobs.get(place) ?? null);
  }

  private async wrongValues(
    round: Round,
    forged: ReadonlyMap<string, readonly CommittedState[]>,
  ): Promise<TrueValue[]> {
    const { repository, seen, isAll, head } = round;
    const tree = await valuesTree(repository.git, head.commit);
    const found = new Map(seen.values.map((one) => [one.path, one]));
    const paths = [...found.keys(), ...(isAll ? tree.keys() : []), ...forged.keys()];
    const wrong: TrueValue[] = [];
    for (const path of new Set(paths)) {
      if (whyNotConfigPath(path) !== undefined) continue;
      const is = found.get(path);
      const before = is?.fault === undefined ? (is?.it?.overrules ?? []) : [];
      const states = forged.get(path) ?? [];
      const overrules = addOverruledStates(before, states);
      if (overrules === undefined && is !== undefined && isRight(is, round, tree.get(path) ?? null, states)) continue;
      const right = await findTrueValue(repository.git, this.line, head, path);
      const isThere =
        is?.it !== undefined && nameState(is.it) === nameState(right) && is.fault === undefined && is.isOwn;
      if ((isThere || (is === undefined && tree.get(path) === 'unfit')) && overrules === undefined) continue;
      wrong.push({ ...right, overrules: overrules ?? before });
    }
    return wrong;
  }

  /** Makes hosts that acknowledge a removed override look again: its removal may not have been announced to them. */
  private async refreshHosts(
    name: string,
    { overrides }: InspectionResult,
    said: readonly HostAcknowledgement[],
  ): Promise<void> {
    const there = new Set(overrides.flatMap(({ path, it }) => (it ? [`${path} ${it.revision}`] : [])));
    const gone = said.filter(({ path, revision }) => revision !== null && !there.has(`${path} ${revision}`));
    if (gone.length > 0) await this.ports.inspection.touch(name, [...new Set(gone.map(({ path }) => path))]);
  }
}

function isRight(
  { it, fault, isOwn }: FoundValue,
  { seen, head }: Round,
  atHead: string | null,
  forged: readonly CommittedState[],
): boolean {
  if (it === undefined || fault !== undefined || !isOwn) return false;
  const state = nameState(it);
  return !forged.some((one) => nameState(one) === state) && isNewest(head, it, atHead, seen.head.it?.partly?.commit);
}
