import { finderChecks } from '../../cli/doctor/finders';
import type { FinderView } from '../../domain/views';

const failing = (reason: string): FinderView => ({
  ...{ id: 'commits', kind: 'finder', state: 'failing', answeredAt: null, since: '2026-11-27T18:00:00.000Z' },
  ...{ reason, nextAt: null, refused: [] },
});

test('a finder whose worker went silent while it asked is not broken: the worker is', () => {
  expect(finderChecks([failing('activity Heartbeat timeout')])).toMatchObject([
    { name: 'finder commits', state: 'warning', how: expect.stringMatching(/^see the check of workers/) as string },
  ]);
  expect(finderChecks([failing('connect ECONNREFUSED')])).toMatchObject([
    { name: 'finder commits', state: 'missing', how: expect.stringMatching(/^start its service/) as string },
  ]);
});
