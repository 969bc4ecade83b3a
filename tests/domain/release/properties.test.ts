import fc from 'fast-check';
import type { Artifact } from '../../../domain/artifact';
import { ancestors, dependencies, resolveInputs } from '../../../domain/release/graph';
import { hasActionEnded, nextActions } from '../../../domain/release/nextActions';
import { newRelease, releaseState, withAction } from '../../../domain/release/state';
import { DEFAULT_SETTINGS } from '../../../domain/settings';
import { lintPipeline } from '../../../domain/spec/lint';
import { pipelineSchema, type ActionSpec, type PipelineSpec } from '../../../domain/spec/pipeline';
import type { ActionState, ReleaseCause } from '../../../domain/views';
import { artifact, manual, NOW } from '../../builders/pipelineWorld';

/** Releases over random graphs, in which every action ends as it likes: what holds for all of them. */

type Outcome = 'succeeded' | 'failed' | 'cancelled';
type States = Record<string, ActionState>;

const ARTIFACTS = ['given', 'x', 'y', 'z'];
const anArtifact = fc.constantFrom(...ARTIFACTS);
const aRow = fc.record({
  needs: fc.array(fc.nat(), { maxLength: 3 }),
  inputs: fc.uniqueArray(anArtifact, { maxLength: 2 }),
  outputs: fc.uniqueArray(anArtifact, { maxLength: 1 }),
  runIf: fc.constantFrom('success', 'success', 'failure', 'always'),
  join: fc.constantFrom('all', 'any'),
  attempts: fc.integer({ min: 1, max: 3 }),
  /** How each attempt ends. */
  ends: fc.array(fc.constantFrom<Outcome>('succeeded', 'failed', 'cancelled'), { minLength: 3, maxLength: 3 }),
  when: fc.option(
    fc.tuple(fc.nat(), fc.constantFrom('succeeded', 'failed', 'cancelled', 'skipped'), anArtifact, fc.boolean()),
    { nil: null },
  ),
});
type Row = typeof aRow extends fc.Arbitrary<infer R> ? R : never;

const nameOf = (index: number): string => `a${index}`;

function toSpec(rows: readonly Row[]): PipelineSpec {
  const actions = rows.map((row, index) => {
    const needs = index === 0 ? [] : [...new Set(row.needs.map((need) => nameOf(need % index)))];
    const [of = 0, outcome = '', changed = '', isAbout = false] = row.when ?? [];
    const clause = isAbout ? { changed } : { action: nameOf(of % Math.max(1, index)), outcome };
    const { runIf, join, inputs, outputs, attempts } = row;
    const when = row.when === null || index === 0 ? [] : [clause];
    return [nameOf(index), { type: 'build', needs, runIf, join, inputs, outputs, when, retry: { attempts } }];
  });
  const artifacts = { given: { finder: 'manual' } };
  return pipelineSchema.parse({ pipeline: 'p', owners: ['user:a'], artifacts, actions: Object.fromEntries(actions) });
}

/** Without what lint objects to, so that it lets the graph through. */
function fixed(spec: PipelineSpec): PipelineSpec {
  const error = lintPipeline(spec).find(({ severity }) => severity === 'error');
  if (error === undefined) return spec;
  const [, name = '', field, index] = error.path as [string, string, string?, number?];
  const action = spec.actions[name] as ActionSpec;
  const without = <T>(list: readonly T[]): T[] => list.filter((_, at) => at !== index);
  const change =
    field === 'inputs'
      ? { inputs: without(action.inputs) }
      : field === 'when'
        ? { when: without(action.when) }
        : error.code === 'cycle'
          ? { inputs: [] }
          : { runIf: 'always' as const };
  return fixed({ ...spec, actions: { ...spec.actions, [name]: { ...action, ...change } } });
}

/** The events of a release until nothing can happen any more. */
interface Story {
  readonly states: States;
  readonly started: readonly string[];
  readonly skipped: readonly string[];
  readonly outputs: Readonly<Record<string, readonly Artifact[]>>;
  readonly inputs: Readonly<Record<string, readonly Artifact[]>>;
}

const GIVEN = [artifact('given', 'given')];

/** `cancelAfter` turns the release is cancelled: what waits is cancelled, what runs ends so. */
function run(spec: PipelineSpec, rows: readonly Row[], picks: Iterator<number>, cancelAfter: number | null): Story {
  const states: States = {};
  const attempts: Record<string, number> = {};
  /** A failure with an attempt left waits for its back-off. */
  const attempt = (row: Row, name: string): ActionState => {
    const number = (attempts[name] = (attempts[name] ?? 0) + 1);
    const end = row.ends[number - 1]!;
    return end === 'failed' && number < row.attempts ? 'blocked' : end;
  };
  const [started, skipped]: [string[], string[]] = [[], []];
  const [outputs, inputs]: [Record<string, Artifact[]>, Record<string, Artifact[]>] = [{}, {}];
  const needs = dependencies(spec.actions);
  const over = (name: string): boolean => hasActionEnded(states[name] ?? 'waiting');
  for (let turns = 0; !Object.keys(spec.actions).every(over); turns += 1) {
    if (turns > 200) throw new Error(`it does not end: ${JSON.stringify(states)}`);
    const isCancelled = cancelAfter !== null && turns >= cancelAfter;
    if (isCancelled)
      for (const name of Object.keys(spec.actions)) if (states[name] === undefined) states[name] = 'cancelled';
    const decisions = nextActions({ spec, states, artifacts: GIVEN, outputs, previous: [] });
    if (isCancelled) expect(decisions).toEqual([]);
    for (const { kind, action } of decisions) {
      expect((needs.get(action) ?? []).filter((need) => !over(need))).toEqual([]);
      (kind === 'start' ? started : skipped).push(action);
      states[action] = kind === 'start' ? 'running' : 'skipped';
      if (kind === 'start') inputs[action] = resolveInputs(spec.actions, action, GIVEN, (name) => outputs[name] ?? []);
    }
    const going = Object.keys(states).filter((name) => !over(name));
    const name = going[(picks.next().value as number) % Math.max(1, going.length)];
    if (name === undefined) continue;
    states[name] =
      states[name] === 'blocked' ? 'running' : isCancelled ? 'cancelled' : attempt(rows[Number(name.slice(1))]!, name);
    if (states[name] === 'succeeded')
      outputs[name] = (spec.actions[name]?.outputs ?? []).map((made) => artifact(`by-${name}`, made));
  }
  return { states, started, skipped, outputs, inputs };
}

const someRows = fc.array(aRow, { minLength: 1, maxLength: 9 });
const somePicks = fc.infiniteStream(fc.nat());

function forReleases(check: (spec: PipelineSpec, rows: readonly Row[], picks: Iterator<number>) => void): void {
  fc.assert(
    fc.property(someRows, somePicks, (rows, picks) => check(fixed(toSpec(rows)), rows, picks)),
    { numRuns: 500 },
  );
}

test('a release ends whatever its actions come to: each is decided once, after all that it needs, and ends in one way', () => {
  forReleases((spec, rows, picks) => {
    const { states, started, skipped } = run(spec, rows, picks, null);
    expect([...started, ...skipped].sort()).toEqual(Object.keys(spec.actions).sort());
    expect(Object.values(states).filter((state) => !hasActionEnded(state))).toEqual([]);
    expect(nextActions({ spec, states, artifacts: GIVEN, previous: [] })).toEqual([]);
  });
});

test('a release that is cancelled at any moment ends, and starts nothing after it', () => {
  forReleases((spec, rows, picks) => {
    const cancelAfter = picks.next().value as number;
    const { states, started, skipped } = run(spec, rows, picks, cancelAfter % 10);
    expect(Object.keys(states).sort()).toEqual(Object.keys(spec.actions).sort());
    expect(new Set([...started, ...skipped]).size).toBe(started.length + skipped.length);
    expect(Object.values(states).filter((state) => !hasActionEnded(state))).toEqual([]);
  });
});

/** The table of docs/design/pipeline.md#conditions. */
function mayRun(spec: PipelineSpec, { needs, states, outputs, name }: Seen): boolean {
  const action = spec.actions[name] as ActionSpec;
  const ends = needs.map((need) => states[need]);
  const conditions = action.when.every((clause) => {
    if ('action' in clause) return states[clause.action] === clause.outcome;
    if (!('changed' in clause)) return false;
    // Nothing was there before, so whatever is there has changed.
    return (
      clause.changed === 'given' ||
      Object.values(outputs)
        .flat()
        .some((made) => made.name === clause.changed)
    );
  });
  switch (action.runIf) {
    case 'always':
      return conditions;
    case 'failure':
      return conditions && ends.some((end) => end === 'failed');
    case 'success':
      return conditions && (action.join === 'all' || ends.length === 0 ? all(ends) : ends.some(isSuccess));
  }
}
interface Seen extends Pick<Story, 'states' | 'outputs'> {
  readonly needs: readonly string[];
  readonly name: string;
}
const isSuccess = (end: ActionState | undefined): boolean => end === 'succeeded';
const all = (ends: readonly (ActionState | undefined)[]): boolean => ends.every(isSuccess);

test('an action runs exactly when its needs ended as it asks and its conditions hold', () => {
  forReleases((spec, rows, picks) => {
    const { states, started, outputs } = run(spec, rows, picks, null);
    const needs = dependencies(spec.actions);
    for (const name of Object.keys(spec.actions)) {
      const before = ancestors(needs, name);
      const seen = Object.fromEntries(Object.entries(outputs).filter(([made]) => before.has(made)));
      const runs = mayRun(spec, { needs: needs.get(name) ?? [], states, outputs: seen, name });
      expect([name, started.includes(name)]).toEqual([name, runs]);
    }
  });
});

test('every input of an action that runs on success has one value, which nothing between replaced', () => {
  forReleases((spec, rows, picks) => {
    const { started, inputs } = run(spec, rows, picks, null);
    const needs = dependencies(spec.actions);
    for (const name of started) {
      const { inputs: wanted, runIf, join } = spec.actions[name] as ActionSpec;
      const got = inputs[name] ?? [];
      if (runIf === 'success' && join === 'all') expect(got.map((input) => input.name)).toEqual(wanted);
      for (const { name: input, version } of got) {
        const producer = version === 'given' ? null : version.slice('by-'.length);
        const before = [...ancestors(needs, name)].filter((other) => spec.actions[other]?.outputs.includes(input));
        if (producer !== null) expect(before).toContain(producer);
        const between = before.filter(
          (other) => producer === null || (other !== producer && ancestors(needs, other).has(producer)),
        );
        // No possible successor on the way succeeded.
        expect(between.filter((other) => started.includes(other) && succeededIn(rows, other))).toEqual([]);
      }
    }
  });
});
const succeededIn = (rows: readonly Row[], name: string): boolean => {
  const { ends, attempts } = rows[Number(name.slice(1))]!;
  const last = ends.slice(0, attempts).find((end) => end !== 'failed');
  return last === 'succeeded';
};

test('the end of a release follows from the ends of its actions', () => {
  forReleases((spec, rows, picks) => {
    const { states } = run(spec, rows, picks, null);
    const needs = dependencies(spec.actions);
    const isAbsorbed = (failed: string): boolean =>
      Object.keys(spec.actions).some(
        (name) =>
          states[name] === 'succeeded' &&
          spec.actions[name]?.runIf !== 'success' &&
          (needs.get(name) ?? []).includes(failed),
      );
    const stand = Object.keys(states).filter((name) => states[name] === 'failed' && !isAbsorbed(name));
    const cancelled = Object.values(states).includes('cancelled');
    expect(endOf(spec, states, cancelled ? 'operator' : null)).toBe(
      cancelled ? 'cancelled' : stand.length > 0 ? 'failed' : 'succeeded',
    );
  });
});

function endOf(spec: PipelineSpec, states: States, cause: ReleaseCause | null): string {
  const settings = DEFAULT_SETTINGS;
  const policy = { owners: [], groups: {} };
  const input = { number: 1, spec, artifacts: [], previous: [], trigger: manual(), lastGood: {}, policy, settings };
  const record = Object.entries(states).reduce((left, [name, state]) => withAction(left, name, { state }), {
    ...newRelease(input, NOW),
    cause,
  });
  return releaseState(record, spec);
}
