import type { Boards, OfferPlan } from '../../../../domain/offers/judge';
import { parseUser, type Offer, type OfferBoard } from '../../../../domain/offers/board';
import { findDeployOffers } from '../../../../domain/offers/ofPipeline';
import { skipsTheQueue } from '../../../../domain/release/urgent';
import { toPlace } from './drafts';
import type { Cause } from './boards';
import { listWished } from './oracle';
import type { Run } from './releases';
import type { Deploy, World } from './world';

/** The last deploy that made an offer. */
interface LastMade extends Pick<Offer, 'version' | 'value'> {
  /** Its release: `p0/3`. */
  readonly by: string;
  readonly action: string;
  readonly place: number;
  readonly at: number;
}

/** What the invariants have to know of a story so far. */
export class Facts {
  /** What each offer was under each of its numbers: `p0/o1#4`. */
  readonly values = new Map<string, Pick<Offer, 'version' | 'value'>>();
  /** Pins that a person has ended, as `p1/d0 3 at p0`. */
  readonly endedUses = new Set<string>();
  /** Pins of urgent deploys that came while their offer was about to change, as `p1/d0 3 o1`. */
  readonly atOwnRisk = new Set<string>();
  /** Deploys that announced their changes before the offers of an earlier deploy had arrived. */
  readonly hasty = new Set<string>();
  /** Pipelines that have lost a list of offers for good; the next deploy that makes offers sends it. */
  readonly undeclared = new Set<string>();
  /** Releases that have lost the message that they change no offer. */
  readonly lostChanges = new Set<string>();
  readonly made = new Map<string, LastMade>();
  /** By offer: the last deploy that no longer makes it, although an earlier one of its action did. */
  readonly dropped = new Map<string, { readonly by: string; readonly place: number }>();
  /** What the last deploy of a pipeline that does not wait has read. */
  readonly read = new Map<string, Boards>();
  /** By user: the last deploy that left all units on one version, and the last event that leaves pins in doubt. */
  private readonly clean = new Map<string, { readonly at: number; readonly release: number }>();
  private readonly unsure = new Map<string, number>();
  /** Boards that have missed that a user no longer uses them, as `p1/d0 at p0`. */
  private readonly leaks = new Set<string>();
  private readonly declared = new Map<string, readonly string[]>();
  /** By offer: the last moment at which its file lacked it. */
  private readonly lacked = new Map<string, number>();
  private moment = 0;

  constructor(private readonly world: World) {}

  boardChanged(name: string, before: OfferBoard, cause: Cause): void {
    const [verb = '', kind = '', id = '', of = ''] = cause.split(' ');
    if (verb === 'unpin' && kind === 'everywhere') this.leaks.delete(`${toUser(id)} at ${name}`);
    if (verb === 'declare') this.undeclared.delete(name);
    if (verb === 'pin' && this.isTerminated(kind === 'anyway' ? id : kind, kind === 'anyway' ? of : id))
      this.doubt(kind === 'anyway' ? id : kind);
    if (verb === 'pin' && kind === 'anyway')
      for (const { offers } of before.changes) for (const offer of offers) this.atOwnRisk.add(`${id} ${of} ${offer}`);
    if (verb === 'end-use')
      for (const { user, pins } of before.users)
        if (user === kind) for (const { release } of pins) this.endedUses.add(`${user} ${release} at ${name}`);
  }

  private isTerminated(user: string, release: string): boolean {
    return this.world.runs.get(`${parseUser(user)?.pipeline}/${release}`)?.isTerminated === true;
  }

  /** The pins of a user may be more than what runs from now on, until one of its deploys has succeeded on all units. */
  doubt(user: string): void {
    this.moment += 1;
    this.unsure.set(user, this.moment);
  }

  isClean(user: string): boolean {
    return (this.clean.get(user)?.at ?? 0) > (this.unsure.get(user) ?? 0);
  }

  /** A pin arrives after its deploy has begun, and perhaps after the next one has ended. */
  pinnedLate(user: string, release: number): void {
    if ((this.clean.get(user)?.release ?? 0) > release) this.doubt(user);
  }

  ended({ run, action, result, state, brings, artifacts }: Deploy): void {
    this.moment += 1;
    const isAll = result?.outcome === 'succeeded' && result.skipped === undefined && run.input.followOn === undefined;
    if (isAll && !run.isTerminated) this.clean.set(brings.user, { at: this.moment, release: brings.release });
    else if (result?.outcome !== 'reverted' || run.isTerminated || state === 'terminated') this.doubt(brings.user);
    if (result?.outcome === 'succeeded' && !run.isTerminated) this.recordMade(run, action, artifacts);
  }

  /** A message is lost for good. */
  loses(label: string, run: Run | undefined): void {
    const [verb = '', kind = '', id = '', , to = ''] = label.split(' ');
    if (verb === 'unpin') this.leaks.add(`${toUser(id)} at ${to}`);
    if (verb === 'unpin') this.doubt(toUser(id));
    if (verb === 'pin') this.doubt(id);
    if (verb === 'end-change' && run) this.lostChanges.add(run.id);
    if (verb === 'declare' && kind === 'again') this.undeclared.add(id);
  }

  /** Its messages on their way may be lost. */
  terminates({ id, input, record }: Run): void {
    for (const action of Object.keys(record.actions)) this.doubt(`${input.spec.pipeline}/${action}`);
    for (const [key, { by }] of this.made) if (by === id) this.made.delete(key);
    for (const [key, { by }] of this.dropped) if (by === id) this.made.delete(key);
  }

  declares(name: string, declared: readonly string[]): void {
    this.moment += 1;
    const before = this.declared.get(name) ?? [];
    for (const offer of new Set([...before, ...declared]))
      if (!declared.includes(offer) || !before.includes(offer)) this.lacked.set(`${name}/${offer}`, this.moment);
    this.declared.set(name, declared);
  }

  /** Whether the file has had an offer ever since it was made. */
  isKept(key: string, { at }: LastMade): boolean {
    const [name = '', offer = ''] = key.split('/');
    return (this.declared.get(name)?.includes(offer) ?? false) && (this.lacked.get(key) ?? 0) < at;
  }

  /** The offers that a deploy makes; a rollback makes those of the release that had its artifacts first. */
  private recordMade(run: Run, action: string, artifacts: Deploy['artifacts']): void {
    const { spec, trigger, number, place = number } = run.input;
    if (trigger.kind === 'follow-on') return;
    const isSource = (one: Deploy): boolean =>
      toPlace(one.brings.user) === toPlace(`${spec.pipeline}/${action}`) &&
      !['rollback', 'follow-on'].includes(one.run.input.trigger.kind) &&
      one.artifacts.every(({ version }) => artifacts.some((its) => its.version === version)) &&
      one.result?.outcome === 'succeeded';
    const source = trigger.kind === 'rollback' ? [...this.world.deploys.values()].findLast(isSource) : { run, action };
    const plan = source && findDeployOffers(source.run.input, source.action, artifacts).plan;
    if (plan || trigger.kind === 'rollback') this.recordDropped(run, action, plan ?? { made: [], elsewhere: [] });
    for (const { name, ...offer } of plan?.made ?? []) {
      const key = `${spec.pipeline}/${name}`;
      if (place >= (this.dropped.get(key)?.place ?? 0)) this.dropped.delete(key);
      if (place >= (this.made.get(key)?.place ?? 0))
        this.made.set(key, { ...offer, by: run.id, action, place, at: this.moment });
    }
  }

  private recordDropped(
    { id, input: { spec, number, place = number } }: Run,
    action: string,
    { made, elsewhere }: Pick<OfferPlan, 'made' | 'elsewhere'>,
  ): void {
    const has = [...made.map(({ name }) => name), ...elsewhere];
    for (const [key, last] of this.made) {
      const [pipeline = '', offer = ''] = key.split('/');
      if (
        pipeline === spec.pipeline &&
        toPlace(`/${last.action}`) === toPlace(`/${action}`) &&
        place >= last.place &&
        !has.includes(offer)
      )
        this.dropped.set(key, { by: id, place });
    }
  }

  /**
   * Pins that no deploy takes back (see docs/design/offers.md#ends): of a terminated release or deploy, and of a rollback with offers of an earlier
   * file, if the version that runs wishes for none of that pipeline; or the message was lost. A person ends such a use.
   */
  isLeft(board: string, user: string, release: number): boolean {
    const { pipeline = '', action = '' } = parseUser(user) ?? {};
    const isWished = (run: Run | undefined): boolean =>
      run !== undefined && listWished(run.input.spec, action).some(({ from }) => from === board);
    const run = this.world.runs.get(`${pipeline}/${release}`);
    const isOfEarlierFile = run !== undefined && skipsTheQueue(run.input.trigger) && !isWished(run);
    const isTerminated =
      run?.isTerminated === true ||
      [...this.world.deploys.values()].some(
        (one) => one.run === run && one.action === action && one.state === 'terminated',
      );
    const isWishedNow = this.world
      .listRunning()
      .some((one) => one.user === user && isWished(this.world.runs.get(`${pipeline}/${one.release}`)));
    return this.leaks.has(`${user} at ${board}`) || isOfEarlierFile || (isTerminated && !isWishedNow);
  }
}

/** The user of `p1/3/d0`: `p1/d0`. */
function toUser(id: string): string {
  const [pipeline, , action] = id.split('/');
  return `${pipeline}/${action}`;
}
