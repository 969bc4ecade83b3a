import { finderChecks } from '../../cli/doctor/finders';
import { workerChecks } from '../../cli/doctor/workers';
import { renderChecks } from '../../cli/doctor/checksText';
import type { View } from '../../render/paint';
import type { ExaminationView, ExtensionLook } from '../../domain/examination';
import type { FinderView } from '../../domain/views';

const at = '2026-11-27T18:00:00.000Z';
const VIEW: View = { width: 200, color: false, now: Date.parse(at), timeZone: 'UTC' };
const silent = (kind: string, name: string, host: string, trouble = 'connect ECONNREFUSED'): ExtensionLook => ({
  ...{ kind, name, address: `http://${host}/…`, trouble },
});
const seen = (extensions: readonly ExtensionLook[]): ExaminationView => ({
  ...{ taskQueue: 'conveyor', pollers: [{ identity: '12@one', build: null, lastPollAt: at }], lastPollAt: at },
  ...{ end: { kind: 'answered', tookMs: 300, extensions, unused: [] }, backlogs: [], clockAheadMs: 0 },
  ...{ namespace: 'default', attributes: null, builds: null, listing: null },
});
const failing: FinderView = {
  ...{ id: 'commits', kind: 'finder', state: 'failing', answeredAt: null, since: at },
  ...{ reason: 'connect ECONNREFUSED', nextAt: null, refused: [] },
};

const DEAD = [
  silent('push-type', 'twine', 'fleet:4400'),
  silent('action-service', 'build', 'fleet:4400'),
  silent('artifact-finder', 'commits', 'fleet:4400'),
];

test('doctor names a dead process that serves several extensions once, with all that it serves', () => {
  const checks = [...workerChecks(seen(DEAD)), ...finderChecks([failing])];
  const lines = renderChecks(checks, VIEW).split('\n');
  expect(lines.slice(2)).toEqual([
    '✖ push-type twine and 2 more  no usable answer for the workers at http://fleet:4400/…: connect ECONNREFUSED',
    '    with action-service build and artifact-finder commits',
    expect.stringMatching(/^ {4}→ start its service/),
    '',
    '1 thing missing or broken.',
  ]);
});

test('programs still get a row for each, and each name', () => {
  const broken = workerChecks(seen(DEAD)).filter(({ state }) => state === 'missing');
  expect(broken.map(({ name }) => name)).toEqual([
    ...['push-type twine', 'action-service build', 'artifact-finder commits'],
  ]);
});

test('doctor keeps apart processes at other addresses, and extensions at one address that fail differently', () => {
  const extensions = [
    silent('push-type', 'twine', 'fleet:4400'),
    silent('action-service', 'build', 'builds:4400'),
    silent('action-service', 'test', 'fleet:4400', 'it answers with status 502'),
  ];
  const text = renderChecks(workerChecks(seen(extensions)), VIEW);
  expect(text.match(/^✖ .*?(?= {2})/gm)).toEqual([
    '✖ push-type twine',
    '✖ action-service build',
    '✖ action-service test',
  ]);
  expect(text).toContain('3 things missing or broken.');
});

test('doctor shows a finder that fails though its service answers', () => {
  const well = { ...silent('artifact-finder', 'commits', 'fleet:4400'), trouble: null };
  const text = renderChecks([...workerChecks(seen([well])), ...finderChecks([failing])], VIEW);
  expect(text).toContain(`✖ finder commits  since ${at}: connect ECONNREFUSED`);
});
