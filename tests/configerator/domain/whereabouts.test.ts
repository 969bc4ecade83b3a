import { findWhereabouts, whereaboutsText, type ChangeRelease } from '../../../configerator/domain/whereabouts';

const CHANGE = { change: 2, commit: 'c2', landed: null };

const release = (number: number, over: Partial<ChangeRelease> = {}, version = '2@c2'): ChangeRelease => ({
  ...{ id: `feed/${number}`, number, state: 'running', cause: null, artifacts: [{ version }], ...over },
});

test.each<[string, string, readonly ChangeRelease[]]>([
  ['proposed', 'that no release has', [release(1, {}, '1@c1'), release(3, {}, '2@other')]],
  ['waits as feed/4', 'that waits for its turn', [release(4, { state: 'queued' })]],
  ['releasing as feed/4', 'that is released', [release(4)]],
  ['paused in feed/4', 'whose deploy is paused', [release(4, { pausedDeploy: { id: 'feed/4/deploy' } })]],
  ['given up by feed/4 (failed)', 'whose release has failed', [release(4, { state: 'failed' })]],
  [
    'given up by feed/4 (superseded)',
    'that was passed over',
    [release(4, { state: 'cancelled', cause: 'superseded' })],
  ],
  ['releasing as feed/5', 'whose release was run again', [release(5), release(4, { state: 'failed' })]],
])('%s: a change %s', (text, _, releases) => {
  expect(whereaboutsText(findWhereabouts(CHANGE, releases))).toBe(text);
});

test('a change that has landed has landed, whatever became of its release', () => {
  expect(findWhereabouts({ ...CHANGE, landed: 'abc' }, [release(4, { state: 'failed' })])).toEqual({ where: 'landed' });
});
