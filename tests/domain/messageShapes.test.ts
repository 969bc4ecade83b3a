import { isChildEnd, isPolicy, isShardReport, isWaitNotice, whyNoCommand } from '../../domain/messageShapes';

const COUNTS = { waiting: 1, running: 0, succeeded: 2, failed: 0, cancelled: 0, notStarted: 0 };

test.each([
  [isShardReport, { index: 0, report: { ...COUNTS, failures: [] }, over: false }, true],
  [isShardReport, { index: 0, over: true }, false],
  [isShardReport, { index: 0, report: {}, over: false }, false],
  [isShardReport, { index: 0, report: { ...COUNTS, failed: NaN, failures: [] }, over: true }, false],
  [isChildEnd, { pipeline: 'kvstore', number: null, state: 'failed' }, true],
  [isChildEnd, { pipeline: 'kvstore', number: '1', state: 'failed' }, false],
  [isPolicy, { owners: ['user:alice'], groups: { web: ['user:bob'] } }, true],
  [isPolicy, { owners: ['user:alice'], groups: { web: 'user:bob' } }, false],
  [isWaitNotice, { action: 'deploy', why: 'its window', untilMs: Date.UTC(2026, 1) }, true],
  [isWaitNotice, { action: 'deploy', why: 'its turn' }, true],
  [isWaitNotice, { action: 'deploy', why: 'its turn', untilMs: Infinity }, false],
])('%o of %j: %s', (isSent, value, expected) => {
  expect(isSent(value)).toBe(expected);
});

test.each([
  [{}, undefined],
  [{ actor: 'user:alice', reason: 'so', noRevert: true, phase: 'first', vouched: ['web'] }, undefined],
  [{ actor: 'user:alice', proof: { verb: 'hold', id: 'a', atMs: 1 }, of: 3 }, undefined],
  [[], 'its input is not an object'],
  [{ noRevert: 'yes' }, 'its noRevert has the wrong type'],
  [{ until: null }, 'its until has the wrong type'],
])('the input %j of a command: %s', (input, expected) => {
  expect(whyNoCommand(input)).toBe(expected);
});
