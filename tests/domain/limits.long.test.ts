import { formatIdentity } from '../../domain/artifact';
import type { Inheritance } from '../../domain/deploy/planRevert';
import type { Snapshot } from '../../domain/deploy/snapshot';
import { REQUEST_LIMITS, SPEC_LIMITS, STATE_LIMITS } from '../../domain/limits';
import { admit, enqueueReady, withdraw } from '../../domain/pipeline/admission';
import { recordDeploy, recordRelease } from '../../domain/pipeline/recordOutcome';
import { takePipeline, whyNotPipeline } from '../../domain/pipeline/control';
import { fitState } from '../../domain/pipeline/stateSize';
import { inFull } from '../../domain/pipeline/recordLimits';
import type { Artifact } from '../../domain/artifact';
import { startable, thinQueue, withoutSurplus } from '../../domain/pipeline/queue';
import { refuseEmergency, refuseRelease, refuseRollBack, refuseSubmission } from '../../domain/pipeline/requests';
import { labelWords, refuseApply } from '../../domain/pipeline/refuseApply';
import { withEarly, withLate } from '../../domain/pipeline/order';
import { reconcile } from '../../domain/pipeline/reconcile';
import { findRollbackArtifacts, rollbackUnderWay, queueRollback } from '../../domain/pipeline/rollback';
import { markKnownBad } from '../../domain/pipeline/knownBad';
import {
  queueRelease,
  isKnownBad,
  newPipeline,
  markReleaseRunning,
  type PipelineState,
} from '../../domain/pipeline/state';
import { completeArtifacts, recordLatestInputs } from '../../domain/pipeline/submissions';
import { pipelineStatus } from '../../domain/pipeline/view';
import { DEFAULT_SETTINGS } from '../../domain/settings';
import { lintPipeline } from '../../domain/spec/lint';
import { jsonBytes } from '../../domain/size';
import type { Trigger } from '../../domain/views';
import {
  deployNames,
  largeArtifacts,
  largeVersion,
  largeResult,
  largeSpec,
  long,
  nameOf,
  range,
} from '../builders/limitsWorld';
import { artifact, NOW } from '../builders/pipelineWorld';

const followsUnknown = (one: Artifact): Artifact => ({ ...one, metadata: { before: largeVersion(9_999) } });

const trigger = (n: number, kind: Trigger['kind'] = 'api'): Trigger => ({
  kind,
  actor: `user:${long(100, '0-')}`,
  key: long(REQUEST_LIMITS.key.max, `${n}-`),
  reason: long(REQUEST_LIMITS.reason.max),
});

const OWNER = `user:${long(30, '0-')}`;
const spec = largeSpec();
const platform = { storage: range(500).map((n) => long(20, `user:${n}-`)) };
const from = (n: number, kind: Trigger['kind'] = 'webhook'): Trigger => ({ ...trigger(n, kind), actor: OWNER });

/** Each step is bounded as the workflow bounds it. */
const step = (state: PipelineState, change: (state: PipelineState) => PipelineState): PipelineState =>
  fitState(change(state), state);

/** Everything that the doors admit, until they admit nothing more. */
function filled(supersede: 'never' | 'waiting', urgents = 8): PipelineState {
  let state = newPipeline({ ...spec, releases: { ...spec.releases, supersede } }, platform, DEFAULT_SETTINGS);
  state = { ...state, keys: range(1_000).map((n) => [long(REQUEST_LIMITS.key.max, `key-${n}-`), n] as const) };
  const deploys = deployNames(spec);
  // A past: every release leaves as much as it can.
  for (const n of range(12)) {
    state = step(state, (now) => released(now, n));
    const number = state.nextNumber - 1;
    state = step(state, (now) => markReleaseRunning(now, number));
    for (const [index, action] of deploys.entries()) {
      const result = largeResult(n % 3 === 2 && index === 0 ? 'reverted' : 'succeeded', n);
      const deploy = { action, artifacts: [largeArtifacts(n)[index] ?? artifact('x')], result };
      state = step(state, (now) => recordDeploy(now, number, deploy, NOW));
      state = step(state, (now) => withdraw(now, { release: number, action, leaves: result.leaves ?? null }));
    }
    state = step({ ...state, held: null }, (now) => recordRelease(now, resultOf(number, n), NOW));
    state = step(state, withoutOldFollowOns);
  }
  // As finders bring them in an order, also too late.
  for (const n of range(12)) {
    const after = largeArtifacts(n + 1).map((one) => ({ ...one, metadata: { before: largeVersion(n) } }));
    state = step(state, (now) => recordLatestInputs(now, after));
    state = step(state, (now) =>
      withLate(now, [{ ...(after[n % 16] ?? artifact('x')), version: largeVersion(n) }], NOW),
    );
    state = step(state, (now) => withEarly(now, largeArtifacts(n + 2_000).map(followsUnknown)));
  }
  for (const n of range(14)) {
    const artifacts = largeArtifacts(1_000 + n);
    if (refuseRelease(state, artifacts, from(1_000 + n)) === undefined)
      state = step(state, (now) => released(now, 1_000 + n));
    for (const { number } of startable(state, NOW)) {
      if (startable(state, NOW).every((release) => release.number !== number)) continue;
      state = step(state, (now) => markReleaseRunning(now, number));
      const only = state.active.find((release) => release.number === number)?.followOn?.action;
      for (const [action, { mutex, inputs }] of Object.entries(spec.actions)) {
        if (only !== undefined && only !== action) continue;
        const kind = deploys.includes(action) ? ('deploy' as const) : ('exclusive' as const);
        const ready = {
          release: number,
          action,
          rollback: false,
          kind,
          mutex,
          artifacts: artifacts.filter(({ name }) => inputs.includes(name)),
        };
        state = enqueueReady(state, ready, NOW);
      }
      state = step(state, (now) => admit(now, NOW).state);
    }
  }
  for (const n of range(urgents)) state = step(state, (now) => urgent(now, n));
  const open = range(64).map((n) => long(400, `deploy ${n} has not ended `));
  for (const { number, state: running } of state.active)
    if (running === 'running')
      state = step(state, (now) => reconcile(now, { kind: 'gone', number, endedAt: ENDED, deploys: [], open }, NOW));
  return fitState(range(60).reduce(commanded, state));
}

/** They get the signal that they are not needed, and end. */
const withoutOldFollowOns = (state: PipelineState): PipelineState =>
  thinQueue(
    state.active
      .filter(({ followOn, trigger: { of = 0 } }) => followOn && of < state.nextNumber - 14)
      .reduce((now, { number }) => recordRelease(now, { ...resultOf(number, number), deploys: [] }, NOW), state),
    NOW,
  );

const released = (state: PipelineState, n: number): PipelineState => {
  const artifacts = largeArtifacts(n);
  return withoutSurplus(
    queueRelease(recordLatestInputs(state, artifacts), completeArtifacts(state, artifacts), from(n), NOW),
    NOW,
  );
};

const ENDED = '2026-11-23T18:00:00.000Z';

const resultOf = (number: number, n: number) => ({
  number,
  state: 'succeeded' as const,
  cause: null,
  artifacts: largeArtifacts(n),
  deploys: deployNames(spec).map((action) => ({ action, artifacts: [], result: largeResult('succeeded', n) })),
  endedAt: ENDED,
});

function urgent(state: PipelineState, n: number): PipelineState {
  const [action = ''] = deployNames(spec);
  const wanted = spec.actions[action]?.inputs ?? [];
  const artifacts = largeArtifacts(2_000 + n).filter(({ name }) => wanted.includes(name));
  const emergency = { action, skipBake: true };
  const next =
    refuseEmergency(state, artifacts, from(2_000 + n, 'emergency'), emergency) === undefined
      ? queueRelease(recordLatestInputs(state, artifacts), artifacts, from(2_000 + n, 'emergency'), NOW, { emergency })
      : state;
  return newestGood(next).reduce(undone, next);
}

const newestGood = ({ good }: PipelineState): readonly number[] =>
  Object.values(good).flatMap((deploys) => deploys.at(-1)?.release ?? []);

/** As the workflow does it: what is under way already is the same. */
function undone(state: PipelineState, of: number): PipelineState {
  const back = findRollbackArtifacts(state, of);
  if ('impossible' in back || rollbackUnderWay(state, of) !== undefined) return state;
  const command = { actor: OWNER, reason: long(REQUEST_LIMITS.reason.max) };
  expect(refuseRollBack(state, of, command)).toBeUndefined();
  return step(state, (now) => queueRollback(now, back, { of, ...command, notBad: false }, NOW));
}

const commanded = (state: PipelineState, n: number): PipelineState => ({
  ...state,
  frozen: { actor: OWNER, at: '2026-11-23T17:00:00.000Z', reason: long(REQUEST_LIMITS.reason.max) },
  commands: [
    ...state.commands,
    { at: '2026-11-23T17:00:00.000Z', verb: 'freeze', actor: OWNER, reason: long(1_000, `${n}-`), accepted: true },
  ],
});

describe('a pipeline whose every list is at its limit', () => {
  const full = { never: filled('never'), waiting: filled('waiting') };

  test('is one that lint and apply take', () => {
    expect(lintPipeline(spec).filter(({ code }) => code === 'over-limit')).toEqual([]);
    expect(refuseApply(null, spec, platform, OWNER)).toBeUndefined();
  });

  test.each(['never', 'waiting'] as const)('has a state under 512 kB, with supersede: %s', (supersede) => {
    const state = full[supersede];
    expect(state.active.length).toBeGreaterThan(3);
    expect(state.history.length).toBeGreaterThan(3);
    expect(Object.keys(state.good)).toHaveLength(SPEC_LIMITS.deployInputs.max);
    expect(jsonBytes(state.inherited)).toBeGreaterThan(10_000);
    expect(jsonBytes(state.followed)).toBeGreaterThan(8_000);
    expect(state.late).toHaveLength(STATE_LIMITS.late.max);
    expect(state.active.some(({ gone }) => gone !== undefined)).toBe(true);
    expect(state.keys.length).toBeGreaterThan(50);
    expect(jsonBytes(state)).toBeLessThan(STATE_LIMITS.state.max);
    expect(jsonBytes(pipelineStatus(state, NOW))).toBeLessThan(2 * STATE_LIMITS.state.max);
  });

  test('has search attributes under 2 kB, and a memo far under the 2 MB of one', () => {
    const finders = Object.values(spec.artifacts).map(({ finder }) => finder);
    for (const value of [spec.owners, labelWords(spec), finders]) expect(jsonBytes(value)).toBeLessThan(2_048);
    expect(SPEC_LIMITS.artifacts.max * (SPEC_LIMITS.finderWith.max + 200)).toBeLessThan(64 * 1024);
  });

  test('starts releases and deploys with inputs under 512 kB', () => {
    const state = full.waiting;
    const release = { spec, artifacts: largeArtifacts(1), previous: state.history.at(-1)?.artifacts, groups: platform };
    expect(jsonBytes(release)).toBeLessThan(256 * 1024);
    const good = Object.values(state.good).map((deploys) => deploys.at(-1)?.version);
    expect(jsonBytes(good) + jsonBytes(state.inherited) + jsonBytes(state.frozen)).toBeLessThan(128 * 1024);
  });

  test('can still be rolled back, with all that its push type needs about the good version', () => {
    const state = { ...filled('waiting', 0), frozen: null };
    const of = Math.max(...Object.values(state.good).flatMap((deploys) => deploys.map(({ release }) => release)));
    const idle = { ...state, active: [] };
    const back = findRollbackArtifacts(idle, of);
    if ('impossible' in back) throw new Error(back.impossible);
    const next = queueRollback(idle, back, { of, actor: OWNER, reason: '', notBad: true }, NOW);
    const artifacts = inFull(next, next.active.at(-1)?.artifacts ?? []);
    expect(artifacts.length).toBeGreaterThan(0);
    expect(artifacts.every(({ uri }) => uri?.startsWith('s3://'))).toBe(true);
  });
});

describe('an ordinary pipeline', () => {
  test('remembers its last hundred releases and a thousand keys', () => {
    let state = newPipeline(largeSpec({ labels: {}, description: '' }), {}, DEFAULT_SETTINGS);
    for (const n of range(1_050)) {
      const artifacts = [artifact(`kvstore:${n.toString(16).padStart(40, 'a')}`, nameOf('input', 0))];
      state = step(state, (now) =>
        queueRelease(now, artifacts, { kind: 'webhook', actor: 'service:github', key: `github:${long(36)}${n}` }, NOW),
      );
      const { number } = state.active.at(-1) ?? { number: 0 };
      const end = { number, state: 'succeeded', cause: null, artifacts, deploys: [], endedAt: ENDED } as const;
      state = step(state, (now) => recordRelease(now, end, NOW));
    }
    expect([state.history.length, state.keys.length]).toEqual([100, 1_000]);
  });
});

describe('rollbacks', () => {
  test('are never too many: each release that runs can be undone at once, however full the line is', () => {
    // One deploy a release, so that as many as possible can be undone at the same time.
    const deploys = deployNames(spec);
    let state = newPipeline(spec, platform, DEFAULT_SETTINGS);
    for (const n of range(10 * deploys.length)) {
      const [index, action = ''] = [n % deploys.length, deploys[n % deploys.length]];
      state = step(state, (now) => released(now, n));
      const number = state.nextNumber - 1;
      const deploy = { action, artifacts: [largeArtifacts(n)[index] ?? artifact('x')] };
      const result = { ...largeResult('succeeded', n), skipped: [] };
      state = step(markReleaseRunning(state, number), (now) => recordDeploy(now, number, { ...deploy, result }, NOW));
      state = step(state, (now) => recordRelease(now, { ...resultOf(number, n), deploys: [] }, NOW));
    }
    while (refuseRelease(state, largeArtifacts(9_000), from(state.nextNumber)) === undefined)
      state = step(state, (now) => released(now, state.nextNumber));
    for (let before; before !== state;) {
      before = state;
      state = newestGood(state).reduce(undone, state);
    }
    const rollbacks = state.active.filter(({ trigger }) => trigger.kind === 'rollback');
    expect(rollbacks.length).toBeGreaterThan(deploys.length - 1);
    expect(startable(state, NOW)).toEqual(expect.arrayContaining(rollbacks));
    expect(jsonBytes(state)).toBeLessThan(STATE_LIMITS.state.max);
  });
});

describe('remains of deploys', () => {
  const units = (count: number) =>
    range(count).map((n) => ({
      ...{ id: `unit-${n}`, version: 'kv:1', mixed: false, available: true, size: 3, labels: { region: long(60) } },
    }));
  const empty = newPipeline(spec, {}, DEFAULT_SETTINGS);
  const left = (before: Snapshot, settled: readonly string[] = []): Inheritance => ({
    ...{ left: ['kv:2'], before, settled },
  });

  test('the snapshot of one deploy is kept whole, as large as it may be without pages', () => {
    const whole = { ...empty, inherited: { deploy: largeResult('cancelled', 0).leaves ?? left({ units: [] }) } };
    expect(jsonBytes(whole.inherited)).toBeGreaterThan(16 * 1024);
    expect(fitState(whole)).toEqual(whole);
  });

  test('the oldest of several snapshots goes whole and first, those that went are counted, and snapshots in pages stay', () => {
    const paged = left({ at: 'snapshots/1', pages: 7 });
    const inherited = {
      a: left({ units: units(120) }),
      b: left({ units: units(120) }),
      c: left({ units: units(120) }),
      d: paged,
    };
    const kept = fitState({ ...empty, inherited });
    expect(jsonBytes(kept.inherited)).toBeLessThanOrEqual(STATE_LIMITS.inherited.max);
    expect(kept.inherited).toEqual({ ...inherited, a: { left: ['kv:2'], before: { units: [] } } });
    expect(kept.inheritedOmitted).toEqual({ a: 120 });
    expect(fitState(kept).inheritedOmitted).toEqual({ a: 120 });
    const { a: _over, ...others } = kept.inherited;
    expect(fitState({ ...kept, inherited: others }, kept).inheritedOmitted).toEqual({});
  });

  test('is not believed any more once more units have settled since than it can name', () => {
    const settled = range(STATE_LIMITS.inheritedSettled.max + 1).map((n) => `u${n}`);
    const kept = fitState({ ...empty, inherited: { deploy: left({ at: 'snapshots/1', pages: 7 }, settled) } });
    expect(kept.inherited).toEqual({ deploy: { left: ['kv:2'], before: { units: [] } } });
    expect(kept.inheritedOmitted).toEqual({ deploy: 7 });
  });
});

describe('known-bad artifacts', () => {
  const until = (count: number, length = 10) =>
    range(count).reduce(
      (state, n) =>
        markKnownBad(state, [artifact(`kv:${n}-${long(length)}`)], `release ${n} was reverted: ${long(300)}`, NOW),
      newPipeline(spec, {}, DEFAULT_SETTINGS),
    );
  const version = (n: number, length = 10) => `kv:${n}-${long(length)}`;
  const full = until(360);
  const [action = ''] = deployNames(spec);
  const name = spec.actions[action]?.inputs[0] ?? '';

  test('is never dropped: before the list is full the pipeline is held, and stays so until some are allowed', () => {
    expect(full.knownBad).toHaveLength(360);
    expect(jsonBytes(full.knownBad)).toBeGreaterThan(STATE_LIMITS.knownBadBeforeHold.max);
    expect(full.held?.reason).toContain('allow-artifact those that will not be built again');
    expect(whyNotPipeline(full, 'unhold', {}, NOW)).toContain('allow-artifact');
    const roomy = range(120).reduce(
      (now, n) => takePipeline(now, 'allow-artifact', { artifact: `executable@${version(n)}` }, NOW),
      full,
    );
    expect(roomy.knownBad).toHaveLength(240);
    expect(whyNotPipeline(roomy, 'unhold', {}, NOW)).toBeUndefined();
  });

  test('takes no release and no emergency while it is full, and says why', () => {
    const whole = largeArtifacts(1);
    expect(refuseRelease(full, whole, from(1))?.message).toContain('known-bad artifacts is full');
    expect(refuseSubmission(full, whole, from(1))?.message).toContain('known-bad artifacts is full');
    const emergency = { action, skipBake: false };
    const refusal = refuseEmergency(full, [artifact('kv:9999', name)], from(1, 'emergency'), emergency);
    expect(refusal?.message).toContain('known-bad artifacts is full');
  });

  test('loses reasons, of the oldest first, but no artifact while what still runs is reverted', () => {
    const more = until(500);
    expect(more.knownBad.map(({ artifact: id }) => id)).toEqual(
      range(500).map((n) => formatIdentity(artifact(version(n)))),
    );
    expect(more.knownBad[0]?.reason).toBe('…');
    expect(more.knownBad.at(-1)?.reason).toContain('release 499 was reverted');
    expect(more.badUnlisted).toBeUndefined();
  });

  test('holds the pipeline for good once there is no room even for what identifies it', () => {
    const over = until(600, 60);
    expect(jsonBytes(over.knownBad)).toBeLessThanOrEqual(STATE_LIMITS.knownBad.max + 2);
    expect(isKnownBad(over, artifact(version(0, 60)))).toBeDefined();
    expect(over.badUnlisted).toBe(600 - over.knownBad.length);
    expect(over.held?.reason).toContain(`${over.badUnlisted} known-bad artifacts had no room in the list`);
    const allowed = range(600).reduce(
      (now, n) => takePipeline(now, 'allow-artifact', { artifact: `executable@${version(n, 60)}` }, NOW),
      over,
    );
    expect(allowed.knownBad).toEqual([]);
    expect(whyNotPipeline(allowed, 'unhold', {}, NOW)).toContain('under another name');
  });

  test('does not keep what runs from being rolled back, however full it is', () => {
    const two = range(2).reduce((state, n) => {
      const state2 = markReleaseRunning(
        queueRelease(state, [artifact(`kv:${n}`, name)], from(n), NOW),
        state.nextNumber,
      );
      const deploy = {
        action,
        artifacts: [artifact(`kv:${n}`, name)],
        result: { ...largeResult('succeeded', n), skipped: [] },
      };
      return recordRelease(state2, { ...resultOf(state.nextNumber, n), deploys: [deploy] }, NOW);
    }, full);
    const next = undone(two, 2);
    expect(next.active.map(({ trigger }) => trigger.kind)).toEqual(['rollback']);
    expect(isKnownBad(next, artifact('kv:1', name))).toBeDefined();
  });
});
