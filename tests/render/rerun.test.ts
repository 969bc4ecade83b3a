import { releaseTable, historyTable } from '../../render/lists';
import type { View } from '../../render/paint';
import { renderRelease } from '../../render/release';
import { releaseDetails } from '../../domain/release/details';
import type { ReleaseStatus } from '../../domain/views';
import { action, deploy, NOW, release } from '../builders/cliSamples';

const view: View = { width: 110, color: false, now: NOW, timeZone: 'UTC' };
const ended = (more: Partial<ReleaseStatus>) =>
  release({ state: 'failed', endedAt: '2026-11-20T14:02:00.000Z', actions: [action()], ...more });
const RERUN = 'conveyor rerun kvstore/13 --reason "…"';

test('wherever a release is shown it says of which one it is a rerun', () => {
  const row = ended({ rerunOf: 12 });
  const past = { ...row, durationMs: 1000, deploys: [] };
  for (const text of [releaseTable([row], view), historyTable([past], view), renderRelease(row, [], view)])
    expect(text).toContain('rerun of #12');
  expect(releaseDetails(row)).toContain('rerun of #12');
});

test('an action that was carried over shows from where', () => {
  const carried = action({ name: 'build', startedAt: null, message: 'built', carriedFrom: 12 });
  expect(renderRelease(ended({ actions: [carried] }), [], view)).toMatch(
    /✔ succeeded +carried over: succeeded in #12 · built/,
  );
});

test.each<[string, Partial<ReleaseStatus>, boolean]>([
  ['failed', {}, true],
  ['was cancelled by a person', { state: 'cancelled', cause: 'operator' }, true],
  ['made way for a newer one', { state: 'cancelled', cause: 'superseded' }, false],
  ['succeeded', { state: 'succeeded' }, false],
  ['is a rollback', { trigger: { kind: 'rollback', actor: 'user:alice', key: null, of: 7 } }, false],
])('after a release that %s a rerun is offered, or not: %j', (_title, more, isOffered) => {
  expect(renderRelease(ended(more), [], view).includes(RERUN)).toBe(isOffered);
  expect(releaseDetails(ended(more)).includes(RERUN)).toBe(isOffered);
});

test('where something is known to be bad, allowing it is offered instead, while it runs and once it has ended', () => {
  const build = action({ name: 'build', knownBad: ['executable@kv:13#sha256:1'] });
  const allow = 'conveyor allow-artifact kvstore executable@kv:13 --reason "…"';
  const running = renderRelease(release({ actions: [build] }), [], view);
  expect(running).toContain('Known bad: executable@kv:13#sha256:1, made by build: not deployed until');
  expect(running).toContain(allow);
  const cancelled = renderRelease(ended({ state: 'cancelled', cause: 'bad-package', actions: [build] }), [], view);
  expect(cancelled).toContain(allow);
  expect(cancelled).not.toContain(RERUN);
});

test('nor is it where something was reverted, which a person has to allow first', () => {
  const reverted = deploy({ state: 'ended', outcome: 'reverted' });
  expect(renderRelease(ended({}), [reverted], view)).not.toContain(RERUN);
  expect(releaseDetails(ended({}), true)).not.toContain(RERUN);
});
