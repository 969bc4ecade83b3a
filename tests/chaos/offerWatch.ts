import { OfferBoards } from '../../activities/offerBoards';
import { workflowIds } from '../../domain/ids';
import type { OfferBoard } from '../../domain/offers/board';
import { isOfferWait } from '../../domain/offers/judge';
import type { PipelineSource } from '../../domain/spec/pipeline';
import type { ActionView } from '../../domain/views';
import { describeBoard } from '../domain/offers/stories/oracle';
import { answering } from '../workflows/answering';
import type { VirtualWorld } from '../workflows/world';
import { findWrongCircle } from './offerCircles';
import { doesFit, findAt, isSame, isUrgent, listParts, listUses, listWished, releaseInputOf } from './offerFacts';
import { membersOf, type Scenario } from './scenario';

const UPDATE_OF = /^deploy\/([^/]+)\/(\d+)\/([^/]+)\/(\d+)\//;

/** Looks at the boards of all pipelines at each message to them, at the first update of each deploy, and every few minutes: a broken promise is `wrong`. */
export class OfferWatch {
  readonly wrong = new Set<string>();
  private readonly boards = new Map<string, OfferBoard | null>();
  private readonly files = new Map<string, PipelineSource>();
  /** What each offer was under each of its numbers: `p0/o1#4`. */
  private readonly values = new Map<string, Pick<OfferBoard['offers'][number], 'version' | 'value'>>();
  /** Uses that a person has ended, as `p1/deploy at p0`. */
  private readonly ended = new Set<string>();
  private readonly begun = new Set<string>();
  private readonly stop: () => void;
  private looks: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly world: VirtualWorld,
    private readonly scenario: Scenario,
    private readonly log: (line: string) => void,
  ) {
    world.messages.watch = async (to) => {
      const [, pipeline] = /^offers\/(.+)$/.exec(to) ?? [];
      if (pipeline !== undefined && this.isOf(pipeline)) await this.read(pipeline);
    };
    this.stop = answering(world, async ({ method, updateId = '', urgency, context }) => {
      const [, pipeline = '', release = '', action = '', attempt = ''] = UPDATE_OF.exec(updateId) ?? [];
      const id = `${pipeline}/${release}/${action}/${attempt}`;
      if (method !== 'executeUpdates' || urgency === 'revert' || !this.isOf(pipeline) || this.begun.has(id))
        return undefined;
      this.begun.add(id);
      await this.begins({ id, pipeline, release: Number(release), action }, context?.config ?? {});
      return undefined;
    });
  }

  end(): void {
    this.stop();
    this.world.messages.watch = null;
  }

  applied(source: PipelineSource): void {
    this.files.set(source.pipeline, source);
  }

  retired(pipeline: string): void {
    this.files.delete(pipeline);
  }

  usesEnded(pipeline: string, user: string): void {
    this.ended.add(`${user} at ${pipeline}`);
  }

  /** @param circle as `findCircle` finds it */
  checkCircle(source: PipelineSource, circle: string | undefined | null): void {
    if (circle === null) return;
    const files = new Map([...this.files, [source.pipeline, source]]);
    this.must(6, findWrongCircle(files, source.pipeline, circle));
  }

  /** A look at everything. */
  async look(): Promise<void> {
    for (const { pipeline } of membersOf(this.scenario)) {
      await this.read(pipeline);
      const { active } = await this.world.pipelineStatus(pipeline);
      for (const release of active) await this.lookAtUrgent(pipeline, release);
    }
  }

  /** Whether all running releases of a pipeline wait for the offers of others. */
  async isWaiting(pipeline: string, active: readonly number[]): Promise<boolean> {
    const all = await Promise.all(active.map((release) => this.waits(pipeline, release)));
    return all.every((waits) => waits);
  }

  private async waits(pipeline: string, release: number): Promise<boolean> {
    const actions = await openActions(this.world, pipeline, release);
    const waiting = actions.filter(({ blockedBy }) => blockedBy !== null && isOfferWait(blockedBy));
    const isRunning = await isOpen(this.world, workflowIds.release(pipeline, release));
    return isRunning && waiting.length > 0 && actions.every((one) => one.state === 'waiting' || waiting.includes(one));
  }

  /** A rollback, an emergency and a follow-on wait for no offer; if they need a value that is nowhere, all have to answer. */
  private async lookAtUrgent(pipeline: string, release: number): Promise<void> {
    const input = await releaseInputOf(this.world, pipeline, release);
    if (input === undefined || !isUrgent(input)) return;
    for (const { name, blockedBy } of await openActions(this.world, pipeline, release)) {
      const isRunning = await isOpen(this.world, workflowIds.release(pipeline, release));
      const isOffer =
        isRunning && blockedBy !== null && isOfferWait(blockedBy) && !blockedBy.endsWith(': their answer');
      if (isOffer) this.must(3, `${pipeline}/${release}/${name} (${input.trigger.kind}) is ${blockedBy}`);
    }
  }

  /** A deploy updates its first task. */
  private async begins(
    { id, pipeline, release, action }: { id: string; pipeline: string; release: number; action: string },
    config: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const input = await releaseInputOf(this.world, pipeline, release);
    if (input === undefined || isUrgent(input) || input.spec.actions[action]?.type !== 'deploy') return;
    const user = `${pipeline}/${action}`;
    for (const wish of listWished(input.spec, action)) {
      const board = await this.read(wish.from);
      if (this.ended.has(`${user} at ${wish.from}`)) continue;
      const isOf = (one: ReturnType<typeof listUses>[number]): boolean =>
        one.user === user && one.release === release && one.offer === wish.offer;
      const use = listUses(board ?? { users: [] }).find(isOf);
      if (use === undefined) {
        this.must(1, `${id} updates a task without a pin of ${wish.offer} of ${wish.from}`);
        continue;
      }
      const made = this.values.get(`${wish.from}/${wish.offer}#${use.seq}`);
      if (made === undefined) continue;
      const said = JSON.stringify(made);
      if (!doesFit(wish, made)) this.must(1, `${id} updates a task with ${said} for ${JSON.stringify(wish)}`);
      for (const { from, offer, path, key } of listParts(input.spec, action)) {
        if (from !== wish.from || offer !== wish.offer) continue;
        const given = findAt(config['env'], key);
        if (!isSame(given, findAt(made.value, path)))
          this.must(1, `${id} gives its tasks ${JSON.stringify(given)} for ${path} of ${said}`);
      }
    }
  }

  /** One look after the other, so that each sees what came after the one before. */
  private read(pipeline: string): Promise<OfferBoard | null> {
    const look = this.looks.then(() => this.readNow(pipeline));
    this.looks = look.catch(() => undefined);
    return look;
  }

  private async readNow(pipeline: string): Promise<OfferBoard | null> {
    const board = await new OfferBoards(this.world.stranger(), this.world.taskQueue).find(pipeline);
    const before = this.boards.get(pipeline) ?? null;
    if (board === null || isSame(board, before)) return board;
    this.boards.set(pipeline, board);
    this.log(`board of ${pipeline}: ${describeBoard(board)}`);
    for (const { name, seq, version, value } of board.offers) {
      const key = `${pipeline}/${name}#${seq}`;
      const made = { value, ...(version === undefined ? {} : { version }) };
      const known = this.values.get(key);
      if (known && !isSame(known, made)) this.must(2, `${key} has two values`);
      this.values.set(key, made);
    }
    for (const { user, release, offer } of listUses(board))
      if (!board.offers.some(({ name }) => name === offer))
        this.must(2, `${offer} of ${pipeline} is withdrawn, but ${user} has pinned it for release ${release}`);
    if (before) await this.judgeChanges(pipeline, before, board);
    return board;
  }

  /** No deploy that waits for its users changes an offer against one that has waited for the offer. */
  private async judgeChanges(pipeline: string, before: OfferBoard, board: OfferBoard): Promise<void> {
    for (const use of listUses(before)) {
      const was = before.offers.find(({ name }) => name === use.offer);
      const is = board.offers.find(({ name }) => name === use.offer);
      const isStill = listUses(board).some(
        (one) => one.user === use.user && one.release === use.release && one.offer === use.offer,
      );
      if (!was || !is || !isStill || was.seq === is.seq || !doesFit(use, was) || doesFit(use, is)) continue;
      const [maker, user] = await Promise.all([
        releaseInputOf(this.world, pipeline, is.release),
        releaseInputOf(this.world, use.user.split('/')[0] ?? '', use.release),
      ]);
      if (maker && user && !isUrgent(maker) && !isUrgent(user))
        this.must(2, `release ${is.release} of ${pipeline} changes ${use.offer} against ${JSON.stringify(use)}`);
    }
  }

  private isOf(pipeline: string): boolean {
    return membersOf(this.scenario).some((one) => one.pipeline === pipeline);
  }

  private must(rule: number, wrong: string | undefined): void {
    if (wrong === undefined) return;
    this.wrong.add(`rule ${rule}: ${wrong}`);
    this.log(`rule ${rule}: ${wrong}`);
  }
}

/** A terminated release shows the state in which it was. */
const isOpen = async (world: VirtualWorld, id: string): Promise<boolean> =>
  (await world.client.workflow.getHandle(id).describe()).status.name === 'RUNNING';

/** The actions of a running release that have not ended. */
export async function openActions(world: VirtualWorld, pipeline: string, release: number): Promise<ActionView[]> {
  const { actions } = await world.releaseStatus(pipeline, release).catch(() => ({ actions: [] }));
  return actions.filter(({ endedAt, state }) => endedAt === null && state !== 'skipped');
}
