import type { GrantedOffer } from '../../../../domain/offers/judge';
import { parseUser, type OfferBoard, type PinMessage } from '../../../../domain/offers/board';
import { matchesAny } from '../../../../domain/pattern';
import { skipsTheQueue } from '../../../../domain/release/urgent';
import type { Cause } from './boards';
import { toPlace } from './drafts';
import type { Facts } from './facts';
import {
  describeBoard,
  doesFit,
  findAt,
  isSame,
  isSatisfied,
  listUsedParts,
  listUses,
  listWished,
  must,
} from './oracle';
import type { Run } from './releases';
import type { Deploy, Running, World } from './world';

/** Looks at each step of a story for broken invariants. */
export class Watch {
  constructor(
    private readonly world: World,
    private readonly facts: Facts,
  ) {}

  boardChanged(name: string, before: OfferBoard, after: OfferBoard, cause: Cause): void {
    this.world.log(`board ${name}: ${cause}: ${describeBoard(after)}`);
    this.facts.boardChanged(name, before, cause);
    this.recordValues(name, after);
    const [verb = '', kind = '', id = ''] = cause.split(' ');
    if (verb === 'pin' && kind !== 'anyway') this.checkPin(name, before, after, { user: kind, release: Number(id) });
    if (verb === 'make') this.checkMade(name, before, after, kind);
    if (verb === 'end-use')
      must(5, !after.users.some(({ user }) => user === kind), () => `${kind} still has a pin after ${cause}`);
    for (const { user, offer } of listUses(after))
      must(
        2,
        after.offers.some((one) => one.name === offer),
        () => `${offer} of ${name} is withdrawn, but ${user} has pinned it (${cause})`,
      );
    this.checkHeld(cause);
  }

  /** A number of an offer stands for one value. */
  private recordValues(name: string, { offers }: OfferBoard): void {
    for (const { name: offer, seq, version, value } of offers) {
      const key = `${name}/${offer}#${seq}`;
      const known = this.facts.values.get(key) ?? { version, value };
      must(2, isSame([known.version, known.value], [version, value]), () => `${key} has two values`);
      this.facts.values.set(key, { ...(version === undefined ? {} : { version }), value });
    }
  }

  /** A deploy that waits for offers has pinned some. */
  private checkPin(
    name: string,
    before: OfferBoard,
    after: OfferBoard,
    { user, release }: Pick<PinMessage, 'user' | 'release'>,
  ): void {
    for (const use of listUses(after)) {
      if (use.user !== user || use.release !== release) continue;
      const offer = before.offers.find((one) => one.name === use.offer);
      const isGood = isSatisfied(parseUser(user)?.pipeline ?? '', { from: name, ...use }, before);
      must(
        1,
        isGood && offer?.seq === use.seq,
        () => `${user} ${release} has pinned ${use.offer} of ${name}: ${describeBoard(before)}`,
      );
    }
  }

  /** A deploy has made offers. An urgent one may change them against their users. */
  private checkMade(name: string, before: OfferBoard, after: OfferBoard, id: string): void {
    const run = this.world.runs.get(id.split('/').slice(0, 2).join('/'));
    if (run === undefined || skipsTheQueue(run.input.trigger) || this.facts.hasty.has(id)) return;
    for (const use of listUses(before)) {
      const was = before.offers.find((one) => one.name === use.offer);
      const is = after.offers.find((one) => one.name === use.offer);
      if (!was || !is || was.seq === is.seq || !doesFit(use, was)) continue;
      const isAtOwnRisk = this.facts.atOwnRisk.has(`${use.user} ${use.release} ${use.offer}`);
      must(2, isAtOwnRisk || doesFit(use, is), () => `${id} changes ${use.offer} against ${JSON.stringify(use)}`);
    }
  }

  /** A version that runs has its pins, from its first update on. */
  checkHeld(cause = 'an update'): void {
    for (const { user, release, granted, pinned } of this.world.listRunning())
      for (const { from, use } of granted) {
        const isEnded = this.facts.endedUses.has(`${user} ${release} at ${from}`);
        if (isEnded || !pinned.has(`${from}/${use.offer}`)) continue;
        const { board } = this.world.host(from);
        const isPinned = listUses(board ?? { users: [] }).some(
          (one) => one.user === user && one.release === release && one.offer === use.offer,
        );
        must(5, isPinned, () => `${user} runs ${release} with ${use.offer} of ${from}, but has no pin after ${cause}`);
      }
  }

  /** A deploy announces the changes of its offers. */
  announces(pipeline: string, id: string): void {
    if (this.world.tasks.some(({ label }) => label.startsWith(`make ${pipeline}/`))) this.facts.hasty.add(id);
    else this.facts.hasty.delete(id);
  }

  /** A deploy is about to update its first unit. */
  begins({ run, action, granted, brings, id, spec }: Deploy): void {
    if (skipsTheQueue(run.input.trigger)) return;
    for (const { from, use } of granted) brings.pinned.add(`${from}/${use.offer}`);
    for (const wish of listWished(run.input.spec, action)) {
      if (this.facts.endedUses.has(`${brings.user} ${brings.release} at ${wish.from}`)) continue;
      const use = listUses(this.world.host(wish.from).board ?? { users: [] }).find(
        (one) => one.user === brings.user && one.release === brings.release && one.offer === wish.offer,
      );
      must(1, use !== undefined, () => `${id} begins without a pin of ${wish.offer} of ${wish.from}`);
      const offer = this.facts.values.get(`${wish.from}/${wish.offer}#${use?.seq}`);
      must(
        1,
        !!offer && doesFit(wish, offer),
        () => `${id} begins with ${JSON.stringify(offer)} for ${JSON.stringify(wish)}`,
      );
      for (const part of listUsedParts(run.input.spec, action))
        if (part.from === wish.from && part.offer === wish.offer)
          must(
            1,
            isSame(findAt(spec.config, part.key), findAt(offer?.value, part.path)),
            () =>
              `${id} has ${JSON.stringify(findAt(spec.config, part.key))} for ${part.path} of ${JSON.stringify(offer)}`,
          );
    }
  }

  /** A deploy that does not wait for offers has no values. */
  refused({ id, input: { spec, trigger } }: Run, action: string, lastRelease: number | undefined): void {
    const deploy = spec.actions[action];
    const pushType = deploy?.type === 'deploy' ? deploy.with.pushType : '';
    const earlier = [trigger.of, lastRelease].flatMap((release) =>
      [...this.world.deploys.values()].filter(
        (one) => toPlace(one.brings.user) === toPlace(`${spec.pipeline}/${action}`) && one.brings.release === release,
      ),
    );
    const isKnown = listWished(spec, action).every(({ from, offer: name, paths }) => {
      const offer = this.facts.read
        .get(spec.pipeline)
        ?.get(from)
        ?.offers.find((one) => one.name === name);
      // All parts have to be of one value: a new address with an old port leads nowhere.
      const isPresent =
        offer && matchesAny(offer.to, spec.pipeline) && paths.every((path) => findAt(offer.value, path) !== undefined);
      const hasIt = ({ from: its, use, parts }: GrantedOffer): boolean =>
        its === from && use.offer === name && paths.every((path) => Object.hasOwn(parts, path));
      const hadIt = earlier.some((one) => one.spec.pushType === pushType && one.granted.some(hasIt));
      return paths.length === 0 || isPresent === true || hadIt;
    });
    must(3, !isKnown, () => `${id}/${action} (${trigger.kind}) does not begin, although its values are known`);
  }

  /** The pin of a deploy that has begun already has arrived. @param unpinned the offers that people know to have no pin, as `p0/o1` */
  pinnedLate(
    { user, release }: Omit<PinMessage, 'uses'>,
    granted: readonly GrantedOffer[],
    unpinned: ReadonlySet<string>,
  ): void {
    this.facts.pinnedLate(user, release);
    const isOf = ({ brings }: Deploy): boolean => brings.granted === granted;
    const brings: Running | undefined = [...this.world.deploys.values()].find(isOf)?.brings;
    for (const { from, use } of granted) {
      const isPinned = listUses(this.world.host(from).board ?? { users: [] }).some(
        (one) => one.user === user && one.release === release && one.offer === use.offer,
      );
      const key = `${from}/${use.offer}`;
      const isEnded = this.facts.endedUses.has(`${user} ${release} at ${from}`);
      must(
        8,
        isPinned || isEnded || unpinned.has(key),
        () => `${user} ${release} has no pin of ${key}, and nobody knows`,
      );
      if (isPinned) brings?.pinned.add(key);
    }
  }
}
