import { retryAction } from '../../../../domain/release/state';
import { checkApply } from './circles';
import { buildDrafts, changeDraft, nameDeploy, toSpec, type Draft } from './drafts';
import { Broken } from './oracle';
import type { Pipe } from './pipes';
import type { Run } from './releases';
import { checkSettled } from './settled';
import type { Event, EventKind, Story } from './story';
import { World, type Deploy, type Outcome } from './world';

const OUTCOMES = [
  ...(['succeeded', 'succeeded', 'succeeded', 'skipped'] as const),
  ...(['reverted', 'halfway', 'failed first', 'terminated'] as const),
] satisfies Outcome[];

const pick = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)];

/** Plays a story to its end. */
export class Play {
  readonly world = new World();
  /** The newest file of each pipeline, also if it was never applied. */
  private readonly files: Map<string, Draft>;

  constructor(private readonly story: Story) {
    this.files = new Map(buildDrafts(story.seeds, story.isTwisted).map((one) => [one.name, one]));
  }

  /** @throws Broken */
  play(): void {
    for (const file of this.files.values()) this.apply(file);
    if (this.story.isWarm) this.releaseAll();
    for (const event of this.story.events) {
      this.world.now += 1;
      this.world.log(`* ${event.kind}`);
      this.events[event.kind](event.at, Math.floor(event.at / 16), event);
      this.go(event.at % 13, event.at);
    }
    this.settle();
    this.releaseAll();
  }

  private releaseAll(): void {
    this.world.log('* each pipeline is released');
    for (const pipe of this.listPipes()) if (pipe.isApplied) pipe.release();
    this.settle();
  }

  private apply(file: Draft): void {
    const { world } = this;
    const circle = world.pipe(file.name).apply(toSpec(file));
    const others = [...world.files.values()].filter(({ name }) => name !== file.name && world.pipe(name).isApplied);
    checkApply(file.name, circle, [...others, file]);
    world.log(circle ? `${file.name} is refused: ${circle.join(' → ')}` : `${file.name} is applied: ${describe(file)}`);
    if (circle) return;
    this.rename(world.files.get(file.name), file);
    world.files.set(file.name, file);
    this.files.set(file.name, file);
  }

  /** The units of a deploy that was renamed are the same. */
  private rename(before: Draft | undefined, file: Draft): void {
    file.letters.forEach((letter, index) => {
      if (before === undefined || before.letters[index] === letter) return;
      const [old, now] = [before, file].map((one) => `${file.name}/${nameDeploy(one, index)}`) as [string, string];
      this.world.log(`${old} is renamed ${now}`);
      this.world.rename(old, now);
    });
  }

  private listPipes(): Pipe[] {
    return [...this.files.keys()].map((name) => this.world.pipe(name));
  }

  private pickApplied(n: number): Pipe | undefined {
    return pick(
      this.listPipes().filter((one) => one.isApplied),
      n,
    );
  }

  private listRuns(): Run[] {
    return [...this.world.runs.values()].filter((run) => !run.isTerminated);
  }

  private pickDeploy(n: number): Deploy | undefined {
    return pick(
      [...this.world.deploys.values()].filter(({ state }) => state === 'runs'),
      n,
    );
  }

  private pickMessage(n: number) {
    return pick(
      this.world.tasks.filter(({ retries, isSent }) => retries !== 'flow' && isSent),
      n,
    );
  }

  private readonly events: Readonly<Record<EventKind, (n: number, rest: number, event: Event) => unknown>> = {
    go: (n) => this.go(20, n),
    'all goes well': () => this.world.rest(() => this.endDeploys()),
    release: (n) => this.pickApplied(n)?.release(),
    'end deploy': (n, rest) => {
      const deploy = this.pickDeploy(n);
      if (deploy) this.world.endDeploy(deploy, pickOutcome(deploy, rest), n);
    },
    'update a unit': (n, rest) => {
      const deploy = this.pickDeploy(n);
      if (deploy) this.world.update(deploy, rest);
    },
    apply: (n, rest, { change: kind }) => {
      const pipe = pick(this.listPipes(), n);
      const before = pipe && this.files.get(pipe.name);
      const all = [...this.files.values()];
      if (before) this.apply(changeDraft(before, all, { kind, at: rest }, this.story.isTwisted));
      if (pipe?.isApplied && rest % 3 !== 0) pipe.release();
    },
    'roll back': (n, rest) => this.pickApplied(n)?.rollBack(rest),
    emergency: (n, rest) => this.pickApplied(n)?.emergency(rest),
    rerun: (n, rest) => this.pickApplied(n)?.rerun(rest),
    cancel: (n) =>
      pick(
        this.listRuns().filter(({ hasReported }) => !hasReported),
        n,
      )?.cancel(),
    retry: (n) => retry(this.listRuns(), n),
    retire: (n) => this.pickApplied(n)?.retire(),
    'end use': (n) => {
      const uses = this.world
        .listHosts()
        .flatMap(({ name, board }) => (board?.users ?? []).map(({ user }) => ({ name, user })));
      const use = pick(uses, n);
      if (use) this.world.pipe(use.name).endUse(use.user);
    },
    'units return': () => {
      for (const unit of this.world.listUnits()) unit.isAway = false;
    },
    'terminate a release': (n, rest) => {
      const isAtWork = ({ id }: Run): boolean => this.world.tasks.some(({ owner }) => owner === id);
      const run = pick(this.listRuns().filter(isAtWork), n);
      if (run) this.terminate(run, rest);
    },
    'terminate offers': (n) =>
      pick(
        this.world.listHosts().filter(({ isRunning }) => isRunning),
        n,
      )?.terminate(),
    silence: (n, rest) => {
      const host = pick(this.world.listHosts(), n);
      if (host) host.silentUntil = this.world.now + 1 + (rest % 12);
    },
    late: (n, rest) => {
      const message = this.pickMessage(n);
      // After some minutes others are lost instead.
      message?.delay(this.world.now + 1 + (rest % (message.retries === 'minutes' ? 5 : 40)));
    },
    lose: (n) => {
      const message = this.pickMessage(n);
      if (message) this.lose(message);
    },
    double: (n) => {
      const message = this.pickMessage(n);
      if (message) message.isDoubled = true;
    },
    'look again': (n, rest) => {
      const run = pick(this.listRuns(), n);
      if (run) run.lastLook = rest % 2 === 0 ? 'late' : 'lapsed';
    },
  };

  private go(steps: number, n: number): void {
    for (let step = 0; step < steps; step += 1) this.world.step((n * 7919 + step * 104_729) % 1_000_003);
  }

  private lose(message: World['tasks'][number]): void {
    const isLost = message.lose();
    this.world.log(`${message.label} is lost${isLost ? '' : ', and tried again'}`);
    if (!isLost) return;
    this.world.tasks = this.world.tasks.filter((one) => one !== message);
    this.world.facts.loses(message.label, this.world.runs.get(message.owner ?? ''));
  }

  /** A person terminates a release: its messages on their way may still arrive, and its deploys are stopped. */
  private terminate(run: Run, bits: number): void {
    const { world } = this;
    run.isTerminated = true;
    world.log(`${run.id} is terminated`);
    const mine = world.tasks.filter(({ owner }) => owner === run.id);
    for (const [index, task] of mine.entries())
      if (task.retries === 'flow' || !task.canGo(Infinity) || (bits >> index) % 2 === 0) task.kill();
    world.facts.terminates(run);
    for (const task of mine) if (task.isOver) world.facts.loses(task.label, run);
    world.tasks = world.tasks.filter((task) => !task.isOver);
    for (const deploy of world.deploys.values())
      if (deploy.run === run && deploy.state === 'runs') deploy.isToStop = true;
    world.pipe(run.input.spec.pipeline).abandon(run);
  }

  /** Nothing is lost or late any more, and everything that has begun comes to its end. */
  private settle(): void {
    const { world } = this;
    world.now += 100;
    for (const run of world.runs.values()) run.lastLook = 'go';
    for (const task of world.tasks) task.isDoubled = false;
    const isQuiet = world.rest(() => {
      for (const unit of world.listUnits()) unit.isAway = false;
      this.endDeploys();
    });
    if (!isQuiet) throw new Broken(4, 'it never comes to rest');
    world.log('* nothing more happens');
    checkSettled(world);
  }

  private endDeploys(): void {
    for (const deploy of this.world.deploys.values())
      if (deploy.state === 'runs') this.world.endDeploy(deploy, isStopped(deploy) ? 'halfway' : 'succeeded', 0);
  }
}

const isStopped = ({ isToStop, run }: Deploy): boolean => isToStop || run.givesUp;

const pickOutcome = (deploy: Deploy, n: number): Outcome =>
  isStopped(deploy) && n % 2 === 0 ? 'halfway' : (pick(OUTCOMES, n) ?? 'succeeded');

function retry(runs: readonly Run[], n: number): void {
  const failed = runs
    .filter(({ hasEnded, ending }) => !hasEnded && !ending)
    .flatMap((run) =>
      Object.entries(run.record.actions).flatMap(([name, { state }]) => (state === 'failed' ? [{ run, name }] : [])),
    );
  const found = pick(failed, n);
  found?.run.set(retryAction(found.run.record, found.run.input.spec, found.name));
}

/** A file in one line. */
function describe(draft: Draft): string {
  const { deploys, chained, offers, wishes } = draft;
  const made = offers.map(
    ({ name, after, major, minor, parts, to }) =>
      `${name} ${major}.${minor} {${parts.join()}} after d${after}${to.join() === '*' ? '' : ` to ${to.join()}`}`,
  );
  const wished = wishes.map(
    ({ from, offer, range, for: by, parts }) =>
      `${from}/${offer} ${range ?? ''}{${parts.join()}} for d${by.join('+d')}`,
  );
  const order = deploys
    .map((type, at) => `${nameDeploy(draft, at)}${type === 'twine' ? '' : ` (${type})`}`)
    .join(chained ? ' → ' : ', ');
  return [order, `offers ${made.join(', ') || 'nothing'}`, `wishes for ${wished.join(', ') || 'nothing'}`].join('; ');
}
