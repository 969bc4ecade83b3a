import type { Artifact } from '../../../domain/artifact';
import { recordRelease } from '../../../domain/pipeline/recordOutcome';
import { STATE_LIMITS } from '../../../domain/limits';
import { jsonBytes } from '../../../domain/size';
import { decideOrder } from '../../../domain/pipeline/order';
import { markReleaseRunning, type PipelineState } from '../../../domain/pipeline/state';
import { recordLatestInputs, applySubmission } from '../../../domain/pipeline/submissions';
import { pipelineStatus } from '../../../domain/pipeline/view';
import type { Trigger } from '../../../domain/views';
import { unfitArtifact } from '../../../domain/excess';
import { sentMetadata } from '../../../server/webhookMetadata';
import { parsePush } from '../../../server/webhooks/events';
import { manual, NOW, pipelineOf, resultOf } from '../../builders/pipelineWorld';

const webhook = (key: string): Trigger => ({ kind: 'webhook', actor: 'service:ci', key });
const finder: Trigger = { kind: 'finder', actor: 'service:commits', key: null };
const commit = (version: string, metadata: Record<string, string> = {}): Artifact => ({
  ...{ name: 'source', kind: 'source', version, metadata },
});
const at = (hour: number): { committedAt: string } => ({ committedAt: `2026-11-20T${hour}:00:00Z` });

describe('the order of two versions', () => {
  test.each<[string, Artifact, Artifact, readonly string[], string]>([
    ['is that of their numbers', commit('b', { sequence: '10' }), commit('a', { sequence: '9' }), [], 'newer'],
    ['… also backwards', commit('b', { sequence: '9' }), commit('a', { sequence: '10' }), [], 'older'],
    [
      '… however large',
      commit('b', { sequence: '9007199254740993' }),
      commit('a', { sequence: '9007199254740992' }),
      [],
      'newer',
    ],
    ['is that of their commits', commit('b', at(11)), commit('a', at(12)), [], 'older'],
    ['… in whatever zone', commit('b', { committedAt: '2026-11-20T12:30:00+01:00' }), commit('a', at(12)), [], 'older'],
    [
      'is that of a push onto the other, whatever the dates say',
      commit('b', { before: 'a', ...at(11) }),
      commit('a', at(12)),
      [],
      'newer',
    ],
    [
      'is that of a push that took its place',
      commit('a', at(13)),
      commit('b', { before: 'a', ...at(12) }),
      ['a'],
      'older',
    ],
    ['is not known where nothing says', commit('b'), commit('a'), [], 'unknown'],
    ['is not known where only one says', commit('b', at(11)), commit('a', { sequence: '3' }), [], 'unknown'],
    ['is not known from words', commit('b', { sequence: 'two' }), commit('a', { sequence: 'one' }), [], 'unknown'],
    ['is none of a version with itself', commit('a', at(11)), commit('a', at(12)), [], 'same'],
  ])('%s', (_, artifact, latest, followed, expected) => {
    expect(decideOrder(artifact, latest, followed)).toBe(expected);
  });
});

describe('late news', () => {
  const pipeline = pipelineOf(['deploy'], { artifacts: { source: { finder: 'commits' } } });
  const after = (state: PipelineState, trigger: Trigger, artifact: Artifact) =>
    applySubmission(state, [artifact], trigger, NOW);
  const [a, b, c] = [commit('a', { before: 'z' }), commit('b', { before: 'a' }), commit('c', { before: 'b' })];

  test('the commit of the push before starts nothing, and is on record', () => {
    const { state } = after(pipeline, webhook('2'), b);
    const late = after(state, webhook('1'), a);
    expect(late).toMatchObject({ number: null, duplicate: false });
    expect(late.state).toMatchObject({ nextNumber: 2, inputs: { source: { version: 'b' } } });
    expect(pipelineStatus(late.state, NOW).late).toEqual([
      { artifact: 'source@a', at: new Date(NOW).toISOString(), behind: 'b' },
    ]);
  });

  test('pushes in any order leave the newest', () => {
    for (const pushes of [
      [c, b, a],
      [b, c, a],
      [c, a, b],
      [b, a, c],
    ]) {
      const dated = pushes.map((one) => ({
        ...one,
        metadata: { ...one.metadata, ...at(10 + 'abc'.indexOf(one.version)) },
      }));
      const end = dated.reduce((state, push) => after(state, webhook(push.version), push).state, pipeline);
      expect(end.inputs['source']?.version).toBe('c');
    }
  });

  test('is no news where a branch was put back on purpose', () => {
    const { state } = after(after(pipeline, webhook('1'), a).state, webhook('2'), b);
    const back = after(state, webhook('3'), { ...commit('d', { before: 'b', ...at(1) }) });
    expect(back).toMatchObject({ number: 3, duplicate: false });
  });

  test('is none where a branch was put back to a commit that was deployed before, once for each delivery', () => {
    const { state } = after(after(pipeline, webhook('1'), a).state, webhook('2'), b);
    const back = after(state, webhook('3'), { ...a, metadata: { before: 'b', ...at(1) } });
    expect(back).toMatchObject({ number: 3, duplicate: false, state: { inputs: { source: { version: 'a' } } } });
    expect(after(back.state, webhook('3'), { ...a, metadata: { before: 'b' } })).toMatchObject({
      number: 3,
      duplicate: true,
    });
    expect(after(back.state, webhook('2'), b)).toMatchObject({ number: 2, duplicate: true });
    expect(after(back.state, webhook('4'), b)).toMatchObject({ number: 4, duplicate: false });
  });

  describe('a kept push that is delivered again under another id', () => {
    const pushed = (minute: number) => ({ pushedAt: `2026-11-20T12:${minute}:00Z` });
    const forth = { ...b, metadata: { ...b.metadata, ...pushed(11) } };
    const back = { ...a, metadata: { before: 'b', ...pushed(12) } };
    const state = [{ ...a, metadata: pushed(10) }, forth, back].reduce(
      (now, push) => after(now, webhook(`${push.version}-${push.metadata['pushedAt']}`), push).state,
      pipeline,
    );
    /** As after a restart, with the keys of long ago forgotten. */
    const later = JSON.parse(JSON.stringify({ ...state, keys: [], history: [], active: [] })) as PipelineState;

    test('does not undo that its branch was put back', () => {
      expect(state.nextNumber).toBe(4);
      for (const now of [state, later]) {
        const replayed = after(now, webhook('new'), forth);
        expect(replayed).toMatchObject({ number: null, state: { inputs: { source: { version: 'a' } } } });
        expect(pipelineStatus(replayed.state, NOW).late).toMatchObject([{ artifact: 'source@b', behind: 'a' }]);
      }
    });

    test('does not undo what a person chose since', () => {
      const chosen = recordLatestInputs(later, [commit('z')]);
      expect(after(chosen, webhook('new'), forth).number).toBeNull();
      expect(after(chosen, webhook('new'), { ...forth, metadata: { before: 'z', ...pushed(13) } }).number).toBe(4);
    });

    test('keeps the order of pushes that came before it', () => {
      const dated = { ...commit('d'), metadata: { before: 'a', pushedAt: '2199-01-01T00:00:00Z' } };
      const poisoned = after(later, webhook('x'), dated).state;
      expect(poisoned.pushed).toEqual({ source: NOW });
      const { state: own } = applySubmission(later, [dated], finder, NOW);
      expect(own.pushed).toEqual(later.pushed);
    });
  });

  describe('the newest push is the latest, whatever the dates of its commits say,', () => {
    const push = (version: string, second: number | null, before: string | undefined, committed: number) => ({
      ...commit(version),
      metadata: {
        ...(second === null ? {} : { pushedAt: `2026-11-20T12:00:${10 + second}Z` }),
        ...at(committed),
        ...(before === undefined ? {} : { before }),
      },
    });
    const ends = (...pushes: Artifact[]) =>
      pushes.reduce(({ state }, one) => after(state, webhook(`${one.version}${one.metadata.pushedAt}`), one), {
        state: pipeline,
        number: null as number | null,
      });

    test('where it comes before the push that it follows', () => {
      const end = ends(push('a', 1, 'z', 12), push('c', 3, 'b', 10), push('b', 2, 'a', 13));
      expect(end).toMatchObject({ number: null, state: { nextNumber: 3, inputs: { source: { version: 'c' } } } });
    });

    describe.each([
      ['nothing says when it was pushed', null],
      ['all were pushed in the same second', 1],
    ])('where it comes before the push that it follows, and %s', (_, second) => {
      const [a, b, c] = [push('a', second, 'z', 12), push('b', second, 'a', 13), push('c', second, 'b', 10)];
      const d = push('d', second, 'c', 11);

      test('it is released after that one', () => {
        const end = ends(a, c, b);
        expect(end).toMatchObject({ number: 2, state: { nextNumber: 4, inputs: { source: { version: 'c' } } } });
        expect(end.state).not.toHaveProperty('early');
        expect(ends(a, d, c, b)).toMatchObject({ state: { nextNumber: 5, inputs: { source: { version: 'd' } } } });
      });

      test('it is not released again where the branch is put back to that one', () => {
        const back = { ...b, metadata: { ...b.metadata, before: 'c' } };
        const end = after(ends(a, c, b).state, webhook('back'), back);
        expect(end).toMatchObject({ number: 4, state: { nextNumber: 5, inputs: { source: { version: 'b' } } } });
      });

      test('no more of them are kept than a pipeline has room for', () => {
        const many = Array.from({ length: 300 }, (_, nth) => push(`x${nth}`, second, `w${nth}`, 10));
        const { early } = ends(a, ...many).state;
        expect(early?.at(-1)).toMatchObject({ version: 'x299' });
        expect(jsonBytes(early)).toBeLessThanOrEqual(STATE_LIMITS.early.max + 1);
        expect(early?.length).toBeLessThan(300);
      });
    });

    test('where the one before it was never delivered', () => {
      const end = ends(push('a', 1, 'z', 12), push('c', 3, 'b', 10));
      expect(end).toMatchObject({ number: 2, state: { inputs: { source: { version: 'c' } } } });
    });

    test('where the branch was deleted and made anew, also at a commit that was deployed before', () => {
      const [a, b] = [push('a', 1, 'z', 11), push('b', 2, 'a', 12)];
      expect(ends(a, b, push('y', 3, undefined, 10))).toMatchObject({ number: 3 });
      expect(ends(a, b, push('a', 3, undefined, 11))).toMatchObject({
        number: 3,
        state: { inputs: { source: { version: 'a' } } },
      });
    });
  });

  test('is started all the same by a person who asks', () => {
    const { state } = after(pipeline, webhook('2'), b);
    expect(recordLatestInputs(state, [a]).inputs['source']?.version).toBe('a');
  });

  const overtaken = (trigger: Trigger) => {
    const newer = after(pipeline, finder, commit('b', at(12))).state;
    const ended = recordRelease(markReleaseRunning(newer, 1), resultOf(1, [], [commit('b', at(12))]), NOW);
    const older = { ...commit('a', at(11)) };
    const made = { number: 2, state: 'queued', artifacts: [older], trigger, createdAt: '' } as const;
    return { ...ended, nextNumber: 3, active: [made], inputs: { source: older } };
  };

  test('that took the place of something newer is fixed by the next sweep', () => {
    expect(after(overtaken(webhook('1')), finder, commit('b', at(12)))).toMatchObject({ number: 3, duplicate: false });
  });

  test('that a person chose stays', () => {
    expect(after(overtaken(manual()), finder, commit('b', at(12)))).toMatchObject({ number: 1, duplicate: true });
  });
});

test('a push says what it follows and when it was committed', () => {
  const repository = { full_name: 'acme/web', pushed_at: Date.parse('2026-11-20T11:00:05Z') };
  const said = (before: string) =>
    parsePush({
      ...{ ref: 'refs/heads/main', after: 'b'.repeat(40), before, deleted: false, repository },
      head_commit: { timestamp: '2026-11-20T12:00:00+01:00' },
    });
  const metadata = {
    pushedAt: '2026-11-20T11:00:05.000Z',
    repository: 'acme/web',
    branch: 'main',
    committedAt: '2026-11-20T12:00:00+01:00',
  };
  expect(said('a'.repeat(40))).toMatchObject({ artifact: { metadata: { ...metadata, before: 'a'.repeat(40) } } });
  expect(said('0'.repeat(40))).toHaveProperty('artifact.metadata', metadata);
});

test('a branch that is made anew at an old commit has no date, where the forge does not say when it was pushed', () => {
  const push = { ref: 'refs/heads/main', after: 'b'.repeat(40), deleted: false, repository: { full_name: 'acme/web' } };
  const commit = { head_commit: { timestamp: '2026-11-20T12:00:00+01:00' } };
  const said = parsePush({ ...push, ...commit, before: '0'.repeat(40) });
  expect(said).toHaveProperty('artifact.metadata', { repository: 'acme/web', branch: 'main' });
});

describe('an order that cannot be read is refused, with the one that is expected', () => {
  test.each([
    ['sequence', '-1'],
    ['sequence', '1e3'],
    ['sequence', 'abc'],
    ['sequence', ''],
    ['sequence', '9'.repeat(20)],
    ['committedAt', '1795770000'],
    ['committedAt', '20261127T093000Z'],
    ['committedAt', '27/11/2026'],
    ['committedAt', '11/27/2026'],
    ['committedAt', '2026-13-01T00:00:00Z'],
  ])('%s: %j', (key, value) => {
    const wrong = unfitArtifact(commit('a', { [key]: value }));
    expect(wrong).toMatchObject({ what: expect.stringContaining(`, ${key}, of the artifact source`) });
    expect(wrong).toMatchObject({
      why: expect.stringMatching(/whole number from 0 on|a time such as 2026-11-27T09:30:00Z/),
    });
  });

  test.each([
    ['sequence', '0'],
    ['sequence', '9'.repeat(19)],
    ['committedAt', '2026-11-27T09:30:00.123+01:00'],
    ['committedAt', '2026-11-27'],
    ['other', '27/11/2026'],
  ])('but not %s: %j', (key, value) => expect(unfitArtifact(commit('a', { [key]: value }))).toBeUndefined());

  test.each<[unknown, object | undefined]>([
    [
      { sequence: 42, note: 'x' },
      { sequence: '42', note: 'x' },
    ],
    [undefined, {}],
    [{ sequence: 1.5 }, undefined],
    [{ sequence: 2 ** 60 }, undefined],
    [{ sequence: true }, undefined],
  ])('and a number of JSON is the text that it is: %j', (given, taken) => {
    expect(sentMetadata.safeParse(given).data).toEqual(taken);
  });
});
