import { NO_TIME } from '../../domain/deploy/spans';
import {
  callMeasure,
  deployMeasures,
  recordMeasures,
  neverStartedMeasures,
  queueMeasure,
  releaseMeasures,
  type MeasuredValue,
  type Meter,
} from '../../domain/metrics';
import type { HistoryRow } from '../../domain/views';
import { pastRelease } from '../builders/historyRows';

const shown = (measures: readonly MeasuredValue[]): string[] =>
  measures.map(({ of, value, labels }) => `${of} ${Object.values(labels).join(',')} ${value}`);

test('a deploy that health reverted counts by its outcome, as one revert, and by what its time went to', () => {
  const spans = { ...NO_TIME, updateMs: 30_000, revertMs: 5_000 };
  const reverted = { by: 'health', bad: true };
  expect(
    shown(deployMeasures({ outcome: 'reverted', classification: 'good-failure', reverted, spans })).sort(),
  ).toEqual(['deploys reverted,good-failure 1', 'reverts health 1', 'spanTime revert 5000', 'spanTime update 30000']);
});

test('the actor of a revert counts as a person, under any name', () => {
  const reverted = { by: 'user:alice', bad: false };
  const measures = deployMeasures({ outcome: 'reverted', classification: 'good-failure', reverted, spans: NO_TIME });
  expect(shown(measures)).toContain('reverts person 1');
});

test('a release counts once, with its cause, and its time where it was taken up', () => {
  expect(shown(releaseMeasures({ state: 'succeeded', cause: null }, 60_000))).toEqual([
    'releases succeeded, 1',
    'releaseTime succeeded 60000',
  ]);
  expect(shown(releaseMeasures({ state: 'cancelled', cause: 'expired' }, null))).toEqual([
    'releases cancelled,expired 1',
  ]);
});

test('releases that ended in the queue count as they come into the history, and never again', () => {
  const row = (number: number, more: Partial<HistoryRow> = {}): HistoryRow => ({ ...pastRelease(number, []), ...more });
  const expired = row(2, { state: 'cancelled', cause: 'superseded', neverStarted: true });
  const before = [row(1)];
  const now = [row(1), expired, row(3)];
  expect(shown(neverStartedMeasures(before, now))).toEqual(['releases cancelled,superseded 1']);
  expect(neverStartedMeasures(now, [...now])).toEqual([]);
});

test('times go out in seconds, those of a clock that was put back as none, and counters as they are', () => {
  const seen: unknown[] = [];
  const meter: Meter = {
    createCounter: (name) => ({ add: (value, labels) => void seen.push([name, value, labels]) }),
    createHistogram: (name, type, unit) => ({
      record: (value, labels) => void seen.push([name, type, unit, value, labels]),
    }),
  };
  recordMeasures(meter, [
    ...releaseMeasures({ state: 'failed', cause: null }, null),
    callMeasure('twine', 'pushUpdates', '200', 1_500),
    queueMeasure(-20),
  ]);
  expect(seen).toEqual([
    ['conveyor_releases_ended', 1, { state: 'failed', cause: '' }],
    ['conveyor_extension_request', 'float', 'seconds', 1.5, { extension: 'twine', method: 'pushUpdates', code: '200' }],
    ['conveyor_release_queue', 'float', 'seconds', 0, {}],
  ]);
});
