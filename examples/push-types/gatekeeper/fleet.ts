import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ExtensionError, mixOf, parseProject, SLICES, whyNotMixable, type Project } from '../../../sdk';
import { deployOf, newSlot, pendingSlots, unfinished, unitOf, type Slot, type Updatable } from '../../../sdk/updates';
import { GateMemory, type Kept, type Pending } from './memory';
import type { ProjectStore } from './store';

/** The `config` of a deploy. */
export interface GateConfig {
  readonly project: string;
  /** All rules of all versions, in the order in which they are tried. */
  readonly rules: readonly string[];
}

export interface GateOptions {
  readonly home: string;
  readonly store: ProjectStore;
  /** The number of equal slices of a rule's users: a divisor of a million. Default 100. */
  readonly slices?: number;
  /** How many slices of a rule one write changes. Default all that an update asks for. */
  readonly atOnce?: number;
}

interface Change {
  readonly unit: string;
  readonly index: number;
  readonly slot: Slot;
  readonly id: string;
  readonly version: string;
}

const NONE: Project = { rules: [] };

/**
 * Projects, of which each rule is a unit and each slice of its users a task. Calls only record the desired state;
 * `step` writes the value in which every slice is on its version.
 */
export class GateFleet {
  readonly memory: GateMemory;

  constructor(private readonly options: GateOptions) {
    if (1_000_000 % (options.slices ?? SLICES) !== 0)
      throw new Error(`${options.slices} slices: expected a divisor of a million`);
    this.memory = new GateMemory(join(options.home, 'state.json'));
  }

  get projects(): string[] {
    return Object.keys(this.memory.state.projects);
  }

  /**
   * Loads the state for the calls that follow: the present value, and the content of these versions. A value that
   * another process wrote since becomes a version that no update has touched.
   */
  async prepare(config: GateConfig, versions: readonly string[] = []): Promise<void> {
    const { project } = config;
    const present = await this.options.store.read(project);
    const contents = await Promise.all(versions.map(async (it) => [it, await this.contentOf(project, it)] as const));
    const { state } = this.memory;
    const kept = state.projects[project];
    const isIdle = !this.unitsOf(project).some((unit) => unfinished(state, unit).length > 0);
    if (!kept || (isIdle && !isWritten(present.value, kept))) this.adopt(config, present);
    const { contents: known } = this.keptOf(project);
    for (const [version, content] of contents) if (content) known[version] = content;
    this.keptOf(project).rules = config.rules;
    this.forgetVersions(project, versions);
    for (const rule of config.rules) this.ensureUnit(project, rule);
  }

  /** @throws ExtensionError if these rules cannot split the present value among its users */
  refuseUnmixable({ project, rules }: GateConfig): void {
    const version = this.presentVersion(project);
    const [problem] = whyNotMixable(this.keptOf(project).contents[version] ?? NONE, rules);
    if (problem) throw refusal('not-deployable', `the present value of ${project}: ${problem.path} ${problem.why}`);
  }

  /**
   * Refuses a deploy that lost its service without knowing it, or whose value another process changed; its changes can still be reverted.
   *
   * @throws ExtensionError
   */
  refuseOutdated(project: string, updateId: string, fence: number | undefined): void {
    const kept = this.keptOf(project);
    if (fence !== undefined && fence < (kept.fence ?? fence))
      throw refusal('fenced', `a deploy with fence ${kept.fence} was here since`);
    if (kept.interrupted.includes(deployOf(updateId)))
      throw refusal(
        'changed-elsewhere',
        `${project} was changed by someone else during this deploy; it stays as it is`,
      );
    if (fence !== undefined) kept.fence = fence;
  }

  /** In the form that the updates of the processes example take. */
  updatable({ project, rules }: GateConfig): Updatable {
    const { contents } = this.keptOf(project);
    const hasVersion = (version: string): boolean => {
      const content = contents[version];
      const [problem] = content ? whyNotMixable(content, rules) : [];
      if (problem) throw refusal('not-deployable', `version ${version} of ${project}: ${problem.path} ${problem.why}`);
      return content !== undefined;
    };
    return { state: this.memory.state, copies: { hasVersion } };
  }

  unitsOf(project: string): string[] {
    return Object.keys(this.memory.state.units).filter((unit) => unit.startsWith(`${project}.`));
  }

  /** Writes the next value of a project if slices are to change. Returns true while something is left to do. */
  async step(project: string): Promise<boolean> {
    if (!this.memory.state.projects[project]) return false;
    const units = this.unitsOf(project);
    const changes = units.flatMap((unit) => this.nextChanges(unit));
    if (changes.length > 0) this.begin(project, changes);
    if (this.keptOf(project).pending.length > 0) await this.write(project);
    for (const unit of units) this.finish(unit);
    this.memory.save();
    return units.some((unit) => this.active(unit).length > 0);
  }

  /** Keeps the previous versions of slices until the value is written, for the case that the write fails. */
  private begin(project: string, changes: readonly Change[]): void {
    const kept = this.keptOf(project);
    for (const { unit, index, slot, id, version } of changes) {
      kept.pending.push({ unit, index, version: slot.version, update: slot.update });
      Object.assign(slot, { version, update: id, state: 'updating' });
    }
    this.memory.save();
  }

  private async write(project: string): Promise<void> {
    const kept = this.keptOf(project);
    const value = this.valueOf(project);
    kept.next = value;
    this.memory.save();
    const parsed = parseProject(value);
    if (!('project' in parsed)) return this.fail(project, `${project} would have ${parsed.problems[0]?.why}`);
    const isThere = await this.options.store.write(project, value, kept.written).catch(() => undefined);
    if (isThere === undefined) return; // the store is away: the next step retries
    if (!isThere && !isDeepStrictEqual((await this.options.store.read(project)).value, value))
      return this.fail(project, `${project} was changed by someone else since; it stays as it is`);
    kept.written = value;
    for (const { slot } of this.takePending(project)) slot.state = 'live';
  }

  private takePending(project: string): (Pending & { slot: Slot })[] {
    return this.keptOf(project)
      .pending.splice(0)
      .flatMap((before) => {
        const slot = unitOf(this.memory.state, before.unit).slots[before.index];
        return slot ? [{ ...before, slot }] : [];
      });
  }

  private valueOf(project: string): Project {
    const { rules, contents } = this.keptOf(project);
    const slices = rules.map((rule) => {
      const { slots } = unitOf(this.memory.state, unitName(project, rule));
      return [rule, slots.map(({ version }) => version)] as const;
    });
    return mixOf({ rules, slices: Object.fromEntries(slices), versions: contents });
  }

  /** Nothing was written: slices stay unchanged, and the updates that wanted to change them fail with the reason. */
  private fail(project: string, reason: string): void {
    for (const { slot, version, update } of this.takePending(project).reverse())
      Object.assign(slot, { version, update, state: 'live' });
    for (const unit of this.unitsOf(project))
      for (const id of unfinished(this.memory.state, unit)) {
        const update = this.memory.state.updates[id]?.units[unit];
        if (update) Object.assign(update, { state: 'failed', reason });
      }
  }

  private nextChanges(unit: string): Change[] {
    const { state } = this.memory;
    const changes = this.active(unit).flatMap((id) =>
      pendingSlots(state, unit, id).flatMap((index) => {
        const slot = unitOf(state, unit).slots[index];
        const version = state.updates[id]?.units[unit]?.version;
        const isNew = slot !== undefined && slot.state !== 'updating';
        return isNew && version !== undefined ? [{ unit, index, slot, id, version }] : [];
      }),
    );
    return changes.slice(0, this.options.atOnce ?? Infinity);
  }

  private active(unit: string): string[] {
    const { state } = this.memory;
    return unfinished(state, unit).filter((id) => state.updates[id]?.units[unit]?.state === 'active');
  }

  private finish(unit: string): void {
    const { state } = this.memory;
    for (const id of this.active(unit)) {
      const update = state.updates[id]?.units[unit];
      if (update && pendingSlots(state, unit, id).length === 0) update.state = 'done';
    }
  }

  /** Forgets versions that no slice runs, and no remembered update brings. */
  private forgetVersions(project: string, asked: readonly string[]): void {
    const { state } = this.memory;
    const units = this.unitsOf(project);
    const slots = units.flatMap((unit) => [unitOf(state, unit), ...unitOf(state, unit).slots]);
    const brought = Object.values(state.updates).flatMap((update) => units.map((unit) => update.units[unit]?.version));
    const kept = this.keptOf(project);
    const before = kept.pending.map(({ version }) => version);
    const needed = new Set([kept.version, ...asked, ...before, ...slots.map(({ version }) => version), ...brought]);
    for (const version of Object.keys(kept.contents)) if (!needed.has(version)) delete kept.contents[version];
  }

  private async contentOf(project: string, version: string): Promise<Project | undefined> {
    const known = this.memory.state.projects[project]?.contents[version];
    if (known) return known;
    const value = await this.options.store.version(project, version);
    if (value === undefined) return undefined;
    const parsed = parseProject(value);
    if ('project' in parsed) return parsed.project;
    const [first] = parsed.problems;
    throw refusal('invalid-version', `version ${version} of ${project}: ${first?.path} ${first?.why}`);
  }

  private adopt(
    { project }: GateConfig,
    { value, version }: { readonly value: unknown; readonly version?: string },
  ): void {
    const parsed = parseProject(value ?? NONE);
    if (!('project' in parsed))
      throw refusal('not-deployable', `the present value of ${project}: ${parsed.problems[0]?.why}`);
    const name = version ?? `value-${digestOf(value ?? null)}`;
    const { state } = this.memory;
    const before = state.projects[project];
    const contents = { ...before?.contents, [name]: parsed.project };
    state.projects[project] = {
      written: value,
      contents,
      version: name,
      rules: before?.rules ?? [],
      pending: [],
      fence: before?.fence,
      interrupted: this.deploysOf(project),
    };
    for (const unit of this.unitsOf(project)) {
      const it = unitOf(state, unit);
      Object.assign(it, { version: name, update: null });
      for (const slot of it.slots) Object.assign(slot, { version: name, update: null, state: 'live' });
    }
  }

  private deploysOf(project: string): string[] {
    const units = this.unitsOf(project);
    const all = Object.entries(this.memory.state.updates);
    const own = all.filter(([, update]) => units.some((unit) => update.units[unit]));
    return [...new Set(own.map(([id]) => deployOf(id)))];
  }

  private ensureUnit(project: string, rule: string): void {
    const { state } = this.memory;
    const version = this.presentVersion(project);
    const slots = Array.from({ length: this.options.slices ?? SLICES }, (): Slot => ({
      ...newSlot(version),
      state: 'live',
    }));
    state.units[unitName(project, rule)] ??= { version, update: null, starts: [], slots };
  }

  /** For a new rule: the version with which the others began. */
  private presentVersion(project: string): string {
    const [unit] = this.unitsOf(project);
    return unit === undefined ? this.keptOf(project).version : unitOf(this.memory.state, unit).version;
  }

  private keptOf(project: string): Kept {
    const kept = this.memory.state.projects[project];
    if (!kept) throw new Error(`nothing is known of ${project}`);
    return kept;
  }
}

export const unitName = (project: string, rule: string): string => `${project}.${rule}`;

/** Whether it is the value written last, or one whose write a crash kept us from recording. */
const isWritten = (value: unknown, { written, next }: Kept): boolean =>
  isDeepStrictEqual(value, written) || (next !== undefined && isDeepStrictEqual(value, next));

const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);

const refusal = (code: string, message: string): ExtensionError => new ExtensionError(code, message, { status: 409 });
