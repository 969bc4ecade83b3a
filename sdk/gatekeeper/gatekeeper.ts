import {
  compileProject,
  evaluateProject,
  isTime,
  type CompiledProject,
} from '../../configerator/domain/gatekeeper/evaluate';
import { parseProject } from '../../configerator/domain/gatekeeper/parse';
import type { GateUser, Project } from '../../configerator/domain/gatekeeper/project';
import { findSliceTask, withoutSlices } from '../../configerator/domain/gatekeeper/slices';
import { NAME } from '../../domain/ids';
import { GATE_LIMITS } from '../../domain/limits';
import { onOneLine } from '../../domain/plainText';
import { LaserReader, type LaserStore } from './laser';
import { MeasuredOrder } from './measuredOrder';

/** Options of `createGatekeeper`; only `subscribe` is required. */
export interface GatekeeperOptions {
  /**
   * Calls `onValue` with the value of a path now and on every change, with undefined if there is none, until the
   * returned function is called. `onValue` returns why it refuses a value. `gatesFromProxy` is one.
   */
  readonly subscribe: (path: string, onValue: (value: unknown) => string | undefined) => () => void;
  /** The path of a project. Default `gates/<project>`, the value of a file `gates/<project>.json`. */
  readonly pathOf?: (project: string) => string;
  /** Without a store, restraints `laser` are undecided, which closes their gates. */
  readonly laser?: LaserStore;
  /** ms since the epoch. Default: the clock. */
  readonly now?: () => number;
  /** Default `console.warn`. */
  readonly log?: (message: string) => void;
  /** Measures the cost of a restraint, in any unit. Default: ns of the process. */
  readonly meter?: () => number;
}

/** Measurements for monitoring. */
export interface GateCounts {
  checks: number;
  /** Checks of projects that have no value. */
  unknown: number;
  /** Checks that failed because a restraint could not be decided. */
  undecided: number;
  /** Calls of the laser store that failed. */
  laserFailed: number;
  /** Values that are not projects; the previous one stays. */
  refused: number;
}

/** Decides which users have a feature, by projects of the configuration (docs/guides/gatekeeper.md). */
export interface Gatekeeper {
  /**
   * Whether the user passes. Never throws: returns false for a project without a value, and for a user with a non-text
   * field where text is expected. The first check of a project begins to watch it.
   */
  check(project: string, user: GateUser): boolean;
  /** As `check`, with the name (or place) of the rule that decided. Not counted. */
  explain(project: string, user: GateUser): { readonly pass: boolean; readonly rule?: string; readonly why: string };
  /** The task to which metrics of this user belong while the project is deployed (`checkout.employees/7`); undefined for a user without an id. */
  taskOf(project: string, user: GateUser, slices?: number): string | undefined;
  readonly counts: Readonly<GateCounts>;
  /** Stops watching. */
  close(): void;
}

const whyUndecided = ({ createdAt }: GateUser): string =>
  isTime(createdAt ?? 0) ? 'the laser store is gone' : 'createdAt of the user is not a number of ms since the epoch';

/** Creates a gatekeeper: `createGatekeeper({ subscribe: gatesFromProxy() })`. A gate is closed until the value of its project arrives. */
export const createGatekeeper = (options: GatekeeperOptions): Gatekeeper => new WatchingGatekeeper(options);

interface WatchedProject {
  readonly name: string;
  readonly stop: () => void;
  project?: Project | undefined;
  compiled?: CompiledProject | undefined;
  /** For metrics: the project as if no deploy were running. */
  whole?: CompiledProject | undefined;
  readonly order: MeasuredOrder;
}

class WatchingGatekeeper implements Gatekeeper {
  readonly counts: GateCounts = { checks: 0, unknown: 0, undecided: 0, laserFailed: 0, refused: 0 };
  private readonly watched = new Map<string, WatchedProject>();
  private readonly warned = new Set<string>();
  private readonly now: () => number;
  private readonly meter: () => number;
  private readonly laser: LaserReader;

  constructor(private readonly options: GatekeeperOptions) {
    this.now = options.now ?? Date.now;
    this.meter = options.meter ?? (() => performance.now() * 1e6);
    this.laser = new LaserReader(options.laser, this.counts, (message) => this.log(message));
  }

  check(project: string, user: GateUser): boolean {
    this.counts.checks += 1;
    try {
      return this.passes(project, user);
    } catch (error) {
      this.counts.undecided += 1;
      const why = error instanceof Error ? error.message : String(error);
      this.warnOnce(`${project} failed`, onOneLine(`a check of ${project} failed, and its gate is closed: ${why}`));
      return false;
    }
  }

  private passes(project: string, user: GateUser): boolean {
    const watched = this.watched.get(project) ?? this.watch(project);
    if (!watched?.compiled) {
      this.counts.unknown += 1;
      return false;
    }
    watched.order.checked(user);
    const { pass, undecided } = evaluateProject(watched.compiled, user);
    if (undecided) this.counts.undecided += 1;
    return pass;
  }

  explain(project: string, user: GateUser): { pass: boolean; rule?: string; why: string } {
    const watched = this.watched.get(project) ?? this.watch(project);
    if (!watched?.compiled) return { pass: false, why: `there is no project ${onOneLine(project)}` };
    const { pass, rule: at, undecided } = evaluateProject(watched.compiled, user);
    if (at === undefined) return { pass, why: 'no rule is about this user' };
    const rule = watched.compiled.rules[at]?.rule.name ?? `rules[${at}]`;
    if (undecided) return { pass, rule, why: `${rule} cannot be decided: ${whyUndecided(user)}` };
    const share = `${(watched.compiled.rules[at]?.rule.pass ?? 0) * 100}%`;
    return { pass, rule, why: `${rule} lets ${share} pass, and this user is ${pass ? '' : 'not '}among them` };
  }

  taskOf(project: string, user: GateUser, slices?: number): string | undefined {
    const watched = this.watched.get(project) ?? this.watch(project);
    if (!watched?.project) return undefined;
    watched.whole ??= this.compile(watched.name, withoutSlices(watched.project));
    return findSliceTask(watched.whole, user, slices);
  }

  close(): void {
    for (const { stop } of this.watched.values()) stop();
    this.watched.clear();
  }

  private watch(project: string): WatchedProject | undefined {
    if (!NAME.test(project)) return this.warnOnce(project, `${onOneLine(project)} is not the name of a project`);
    if (this.watched.size >= GATE_LIMITS.projects.max)
      return this.warnOnce(
        '',
        `${GATE_LIMITS.projects.max} projects are watched, and no more: ${project} stays closed`,
      );
    let stop: () => void = () => undefined;
    const watched: WatchedProject = { name: project, order: new MeasuredOrder(this.meter), stop: () => stop() };
    const path = this.options.pathOf?.(project) ?? `gates/${project}`;
    stop = this.options.subscribe(path, (value) => this.take(watched, value));
    this.watched.set(project, watched);
    return watched;
  }

  /** A value that is not a project changes nothing; returns why it is not one. */
  private take(watched: WatchedProject, value: unknown): string | undefined {
    const parsed = value === undefined ? { project: undefined } : parseProject(value);
    if ('project' in parsed) {
      this.install(watched, parsed.project);
      return undefined;
    }
    this.counts.refused += 1;
    const [first] = parsed.problems;
    const more = parsed.problems.length > 1 ? ` (and ${parsed.problems.length - 1} more)` : '';
    const kept = watched.compiled ? 'the one before it stays' : 'every check fails until there is one';
    const where = first?.path ? `${first.path}: ` : '';
    const why = onOneLine(`${where}${first?.why}${more}`);
    this.log(onOneLine(`the project ${watched.name} is refused, ${kept}: ${why}`));
    return why;
  }

  private install(watched: WatchedProject, project: Project | undefined): void {
    watched.project = project;
    watched.compiled = project && this.compile(watched.name, project);
    watched.whole = undefined;
    watched.order.begin(watched.compiled);
  }

  private compile(name: string, project: Project): CompiledProject {
    return compileProject(project, { project: name, now: this.now, laser: (key) => this.laser.read(key) });
  }

  private warnOnce(about: string, message: string): undefined {
    if (this.warned.has(about) || this.warned.size >= GATE_LIMITS.projects.max) return;
    this.warned.add(about);
    this.log(message);
  }

  private log(message: string): void {
    (this.options.log ?? console.warn)(message);
  }
}
