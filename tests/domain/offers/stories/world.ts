import type { Artifact } from '../../../../domain/artifact';
import { combineVersions } from '../../../../domain/artifact';
import { NO_TIME } from '../../../../domain/deploy/spans';
import type { DeployResult } from '../../../../domain/deploy/state';
import type { GrantedOffer } from '../../../../domain/offers/judge';
import type { DeployAction } from '../../../../domain/spec/pipeline';
import { BoardHost } from './boards';
import type { Draft } from './drafts';
import { Pipe } from './pipes';
import { Run } from './releases';
import { Task, type Flow, type Retries } from './tasks';
import { Watch } from './watch';
import { Facts } from './facts';

/** A version that runs on units, with the offers that it was configured with. */
export interface Running {
  readonly user: string;
  readonly release: number;
  readonly granted: readonly GrantedOffer[];
  /** The offers that must have its pin, as `p0/o1`. An urgent deploy pins after its start. */
  readonly pinned: Set<string>;
}

export interface Unit {
  runs: Running | null;
  /** What ran before deploys that were stopped halfway: a revert goes back to that. */
  before?: Running | null;
  /** It is unavailable, so a deploy skips it. */
  isAway: boolean;
}

/** One attempt of a deploy (workflows/deploy.ts). */
export interface Deploy {
  readonly id: string;
  readonly run: Run;
  readonly action: string;
  readonly spec: Pick<DeployAction['with'], 'pushType' | 'config'>;
  readonly artifacts: readonly Artifact[];
  readonly granted: readonly GrantedOffer[];
  readonly units: readonly string[];
  readonly before: ReadonlyMap<string, Running | null>;
  readonly brings: Running;
  state: 'runs' | 'ended' | 'terminated';
  /** Its release was terminated, so it stops. */
  isToStop: boolean;
  result: DeployResult | undefined;
}

export type Outcome = 'succeeded' | 'skipped' | 'reverted' | 'halfway' | 'failed first' | 'terminated';

const UNITS = ['u0', 'u1', 'u2'];

/** All pipelines of a story, the workflows of their offers, and what runs on their units. */
export class World {
  /** Moments of the story; it rises with each event. */
  now = 0;
  /** Rises with each change that others can see. */
  changes = 0;
  readonly lines: string[] = [];
  readonly facts = new Facts(this);
  readonly watch = new Watch(this, this.facts);
  readonly runs = new Map<string, Run>();
  readonly deploys = new Map<string, Deploy>();
  readonly files = new Map<string, Draft>();
  readonly pipes = new Map<string, Pipe>();
  private readonly hosts = new Map<string, BoardHost>();
  private readonly fleets = new Map<string, Map<string, Unit>>();
  tasks: Task[] = [];

  log(line: string): void {
    this.lines.push(`${this.now}: ${line}`);
  }

  pipe(name: string): Pipe {
    const known = this.pipes.get(name) ?? new Pipe(this, name);
    this.pipes.set(name, known);
    return known;
  }

  host(name: string): BoardHost {
    const known =
      this.hosts.get(name) ??
      new BoardHost(name, (...change) => {
        this.changes += 1;
        this.watch.boardChanged(...change);
      });
    this.hosts.set(name, known);
    return known;
  }

  listHosts(): BoardHost[] {
    return [...this.hosts.values()];
  }

  /** The units of a deploy action, by name. */
  fleet(user: string): Map<string, Unit> {
    const known = this.fleets.get(user) ?? new Map(UNITS.map((name) => [name, { runs: null, isAway: false }]));
    this.fleets.set(user, known);
    return known;
  }

  rename(old: string, now: string): void {
    this.fleets.set(now, this.fleet(old));
    // The pins of a name that the file no longer has stay (docs/design/offers.md#ends).
    for (const user of [old, now]) this.facts.doubt(user);
  }

  listUnits(): Unit[] {
    return [...new Set(this.fleets.values())].flatMap((units) => [...units.values()]);
  }

  /** The versions that run on at least one unit. */
  listRunning(): Running[] {
    return [...new Set(this.listUnits().flatMap(({ runs }) => runs ?? []))];
  }

  begin<T>(label: string, retries: Retries, owner: string | null, begin: () => Flow<T>, after?: Task): Task<T> {
    const task = new Task(label, retries, owner, begin, after);
    this.tasks.push(task as Task);
    this.changes += 1;
    return task;
  }

  /** One step of a task that can continue. */
  step(at: number): void {
    const able = this.tasks.filter((task) => task.canGo(this.now));
    const task = able[at % Math.max(1, able.length)];
    if (task) this.go(task);
  }

  private go(task: Task): void {
    task.go();
    if (!task.isOver) return;
    this.changes += 1;
    this.tasks = this.tasks.filter((one) => one !== task);
  }

  /** Everything that can happen without another event. @returns whether it came to rest */
  rest(end: () => void): boolean {
    for (let [quiet, seen, round] = [0, this.changes, 0]; round < 3_000; round += 1) {
      for (const task of [...this.tasks]) if (task.canGo(this.now)) this.go(task);
      end();
      quiet = this.changes === seen ? quiet + 1 : 0;
      seen = this.changes;
      if (quiet > 40) return true;
    }
    return false;
  }

  startDeploy(
    run: Run,
    action: string,
    { with: { pushType, config } }: DeployAction,
    artifacts: readonly Artifact[],
    granted: readonly GrantedOffer[],
  ): Deploy {
    const { spec, number, followOn } = run.input;
    const user = `${spec.pipeline}/${action}`;
    const units = this.fleet(user);
    const attempt = run.record.actions[action]?.attempt ?? 1;
    const deploy: Deploy = {
      ...{ id: `${run.id}/${action}/${attempt}`, run, action, spec: { pushType, config }, artifacts, granted },
      units: followOn?.units ?? [...units.keys()],
      before: new Map([...units].map(([name, unit]) => [name, unit.runs])),
      brings: { user, release: number, granted, pinned: new Set() },
      ...{ state: 'runs', isToStop: false, result: undefined },
    };
    this.deploys.set(deploy.id, deploy);
    this.log(`${deploy.id} begins`);
    this.watch.begins(deploy);
    return deploy;
  }

  /** A deploy updates one of its units. */
  update(deploy: Deploy, at: number): void {
    const name = deploy.units[at % deploy.units.length] ?? '';
    const unit = this.fleet(deploy.brings.user).get(name);
    if (unit === undefined || unit.isAway) return;
    unit.runs = deploy.brings;
    this.changes += 1;
    this.watch.checkHeld();
  }

  endDeploy(deploy: Deploy, outcome: Outcome, at: number): void {
    const units = this.fleet(deploy.brings.user);
    if (outcome === 'skipped')
      for (const name of deploy.units.slice(0, 2))
        if (name !== 'u2') units.get(name)!.isAway ||= at % 2 === 0 || name === 'u0';
    const isDone = outcome === 'succeeded' || outcome === 'skipped';
    if (outcome === 'halfway' || outcome === 'terminated') this.update(deploy, at);
    if (isDone) deploy.units.forEach((_, index) => this.update(deploy, index));
    this.settleUnits(deploy, outcome);
    const skipped = deploy.units.filter((name) => units.get(name)?.isAway);
    deploy.state = outcome === 'terminated' ? 'terminated' : 'ended';
    deploy.result = outcome === 'terminated' ? undefined : buildResult(deploy, outcome, isDone ? skipped : [], at);
    this.changes += 1;
    this.log(`${deploy.id} ends: ${outcome}${skipped.length > 0 && isDone ? ` without ${skipped.join(', ')}` : ''}`);
    // A deploy under an earlier name of an action updates the same units; pins under the other name stay until its next release.
    for (const [user, fleet] of this.fleets) if (fleet === units && user !== deploy.brings.user) this.facts.doubt(user);
    this.facts.ended(deploy);
    this.watch.checkHeld();
  }

  /** Where a deploy that has not succeeded leaves its units, and what a later revert goes back to. */
  private settleUnits({ units, before, brings }: Deploy, outcome: Outcome): void {
    const all = this.fleet(brings.user);
    for (const name of units) {
      const unit = all.get(name);
      if (unit === undefined) continue;
      const was = before.get(name) ?? null;
      if (outcome === 'failed first') unit.runs = was;
      if (outcome === 'reverted') unit.runs = unit.before === undefined ? was : unit.before;
      if (outcome === 'halfway') unit.before = unit.before === undefined ? was : unit.before;
      if (outcome === 'reverted' || outcome === 'succeeded' || outcome === 'skipped') delete unit.before;
    }
  }
}

function buildResult({ artifacts }: Deploy, outcome: Outcome, skipped: readonly string[], at: number): DeployResult {
  const version = combineVersions(artifacts);
  const base = { version, spans: NO_TIME, reason: outcome, reverted: null, classification: 'success' } as const;
  switch (outcome) {
    case 'reverted':
      return {
        ...base,
        outcome: 'reverted',
        classification: 'good-failure',
        reverted: { by: 'health', bad: at % 2 === 0 },
      };
    case 'halfway':
      return {
        ...{ ...base, outcome: at % 2 === 0 ? 'cancelled' : 'failed', classification: 'bad-failure' },
        leaves: { left: [version], before: { units: [] } as never },
      };
    case 'failed first':
      return { ...base, outcome: 'failed', classification: 'bad-failure' };
    default:
      return { ...base, outcome: 'succeeded', ...(skipped.length > 0 ? { skipped } : {}) };
  }
}
