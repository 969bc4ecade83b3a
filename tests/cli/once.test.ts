import { logLines } from '../../cli/render/log';
import type { View } from '../../cli/render/paint';
import { renderDeploy } from '../../cli/render/deploy';
import { renderRelease } from '../../cli/render/release';
import { action, deploy, NOW, release, revertedDeploy } from '../builders/cliSamples';

const view: View = { width: 110, color: false, now: NOW, timeZone: 'UTC' };

const ENDED = '2026-11-20T14:02:08.000Z';
const END = 'every unit runs kv:13';

/** A deploy that came through, and its release, as their workflows write them. */
const through = {
  deploy: deploy({
    ...{ state: 'ended', outcome: 'succeeded', endedAt: ENDED, summary: END },
    timeline: [{ at: ENDED, kind: 'succeeded', text: END }],
  }),
  release: release({
    ...{ state: 'succeeded', endedAt: ENDED },
    actions: [action({ name: 'deploy', type: 'deploy', deploy: 'kvstore/13/deploy', message: END })],
    timeline: [
      { at: ENDED, kind: 'action-succeeded', text: 'build succeeded: kv:13' },
      { at: ENDED, kind: 'action-succeeded', text: `deploy succeeded: ${END}` },
    ],
  }),
};

const countOf = (text: string, lines: readonly string[]): number => lines.filter((line) => line.includes(text)).length;

test('a log has one line for the end of a deploy, and one for that of its release', () => {
  const seen = { release: through.release, waits: [], deploys: [through.deploy] };
  expect(logLines(null, seen)).toEqual([
    '2026-11-20T14:02:08Z  kvstore/13  action-succeeded: build succeeded: kv:13',
    '2026-11-20T14:02:08Z  kvstore/13  ✔ succeeded',
    '2026-11-20T14:02:08Z  kvstore/13/deploy  ✔ succeeded: every unit runs kv:13',
  ]);
  expect(countOf(END, logLines(null, { ...seen, release: null }))).toBe(1);
});

test('an end that no other line tells stays in the log', () => {
  const lost = { release: through.release, waits: [], deploys: [] };
  expect(countOf(END, logLines(null, lost))).toBe(1);
  const failed = { ...through.deploy, summary: 'its lock was lost' };
  expect(countOf(END, logLines(null, { release: null, waits: [], deploys: [failed] }))).toBe(1);
});

test('the timeline of a release has the end of a deploy once', () => {
  const lines = renderRelease(through.release, [through.deploy], view).split('\n');
  const timeline = lines.slice(lines.indexOf('Timeline') + 1);
  expect(countOf(END, timeline)).toBe(1);
  expect(countOf('build succeeded', timeline)).toBe(1);
});

test('a deploy gives the reason of its revert where it says how it ended, and beside the revert only if that is another', () => {
  const ofRevert = (summary: string): string =>
    renderDeploy({ ...revertedDeploy(), summary }, view)
      .split('\n')
      .find((line) => line.startsWith('Revert'))!;
  expect(ofRevert('errors of kvstore-x is unhealthy')).toBe('Revert  by health, took 7s');
  expect(ofRevert('cancelled by user:alice')).toBe('Revert  by health, took 7s: errors of kvstore-x is unhealthy');
});
