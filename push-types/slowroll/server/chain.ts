import { isWithinRule, takesHost, type RolloutDecision, type HostCursor, type SlowrollState } from './decisions';

/** The decisions of one unit that still count, oldest first, and the one that holds for a host. */
export class DecisionChain {
  /** Those that hosts get, folded. */
  private readonly open: readonly RolloutDecision[];
  /** Those of which it is unknown which hosts got them before they were stopped. */
  private readonly all: readonly RolloutDecision[];
  private readonly byGeneration: ReadonlyMap<number, RolloutDecision>;
  private readonly last: number;

  constructor(
    private readonly state: SlowrollState,
    unit: string,
  ) {
    this.all = state.decisions?.[unit] ?? [];
    this.byGeneration = new Map(this.all.map((decision) => [decision.generation, decision]));
    this.open = foldDecisions(this.all.filter((decision) => isOpenDecision(state, decision)));
    this.last = this.open.at(-1)?.generation ?? -1;
  }

  /** The decision that holds for a host whose last one is `current`. */
  resolve(host: HostCursor, current: RolloutDecision | undefined): RolloutDecision | undefined {
    if (current !== undefined && current.generation >= this.last) return current;
    return this.walk(this.open, host, current);
  }

  /** The latest decision that a host may have got, if nothing is known about it. */
  suppose(host: HostCursor): RolloutDecision | undefined {
    return this.walk(this.all, host, undefined);
  }

  /** The decision by which a host got the version that it runs, if only that is known. */
  infer(host: HostCursor, version: string): RolloutDecision | undefined {
    return this.all.findLast((decision) => {
      if (decision.version !== version || decision.removes) return false;
      if (decision.undoes.length === 0) return isWithinRule(decision, host);
      return decision.undoes.some((generation) => {
        const undone = this.byGeneration.get(generation);
        return undone !== undefined && isWithinRule(undone, host);
      });
    });
  }

  takes(decision: RolloutDecision, host: HostCursor, current: RolloutDecision | undefined): boolean {
    return takesHost(decision, host, current, (generation) => this.isReserved(generation, host, current));
  }

  /** Whether an unfinished decision is about to take a host. */
  isReserved(generation: number, host: HostCursor, current: RolloutDecision | undefined): boolean {
    const decision = this.byGeneration.get(generation);
    return decision !== undefined && isStillOpen(this.state, decision) && this.takes(decision, host, current);
  }

  private walk(
    decisions: readonly RolloutDecision[],
    host: HostCursor,
    current: RolloutDecision | undefined,
  ): RolloutDecision | undefined {
    let found = current;
    for (const decision of decisions) if (this.takes(decision, host, found)) found = decision;
    return found;
  }
}

/** The state of an update in a unit. */
const readUpdate = (state: SlowrollState, { update, unit }: RolloutDecision): string | undefined =>
  state.updates[update]?.units[unit]?.state;

const isOpenDecision = (state: SlowrollState, decision: RolloutDecision): boolean => {
  const found = readUpdate(state, decision);
  // An update that is forgotten was done.
  return found === undefined || found === 'active' || found === 'done';
};

const isStillOpen = (state: SlowrollState, decision: RolloutDecision): boolean => {
  const found = readUpdate(state, decision);
  return found === 'active' || found === 'paused';
};

/** The widest of phases that only widen is enough: this keeps the walk short in a release of many phases. */
function foldDecisions(decisions: readonly RolloutDecision[]): RolloutDecision[] {
  const folded: RolloutDecision[] = [];
  for (const decision of decisions) {
    const before = folded.at(-1);
    if (before !== undefined && isWider(decision, before)) folded[folded.length - 1] = decision;
    else folded.push(decision);
  }
  return folded;
}

const isWider = (decision: RolloutDecision, before: RolloutDecision): boolean =>
  isPlainRule(decision) &&
  isPlainRule(before) &&
  decision.version === before.version &&
  (decision.threshold >= 1 || decision.salt === before.salt) &&
  decision.threshold >= before.threshold &&
  (decision.away ?? decision.threshold) >= (before.away ?? before.threshold) &&
  (decision.whole || (!before.whole && decision.below >= before.below));

const isPlainRule = ({ undoes, except, again, removes }: RolloutDecision): boolean =>
  undoes.length === 0 && except.length === 0 && again.length === 0 && !removes;
