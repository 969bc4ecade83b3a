import { logLines } from '../../render/log';
import type { View } from '../../render/paint';
import { renderDeploy } from '../../render/deploy';
import { renderPipeline } from '../../render/pipeline';
import { renderRelease } from '../../render/release';
import { action, deploy, NOW, pipeline, release, revertedDeploy } from '../builders/cliSamples';

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

const REASON = 'errors is 0.2006, above the limit of 0.05 (mean of 3 tasks over the last 3s)';
const REVERTED = `reverted automatically: ${REASON}`;

/** A deploy that a check has reverted, and its release, as their workflows write them. */
const taken = {
  deploy: deploy({
    ...{ state: 'ended', outcome: 'reverted', endedAt: ENDED, summary: REVERTED },
    health: [{ ...revertedDeploy().health[0]!, reason: REASON }],
    timeline: [
      { at: '2026-11-20T14:02:06.000Z', kind: 'planned', text: '1 phase over 1 unit: completion' },
      { at: '2026-11-20T14:02:07.000Z', kind: 'unhealthy', text: REASON },
      { at: '2026-11-20T14:02:07.000Z', kind: 'reverting', text: `reverting automatically: ${REASON}` },
      { at: ENDED, kind: 'reverted', text: REVERTED },
    ],
    revert: { ...revertedDeploy().revert!, reason: REASON },
  }),
  release: release({
    ...{ state: 'failed', endedAt: ENDED },
    actions: [
      action({ name: 'deploy', type: 'deploy', state: 'failed', deploy: 'kvstore/13/deploy', message: REVERTED }),
    ],
    timeline: [{ at: ENDED, kind: 'action-failed', text: `deploy failed: ${REVERTED}` }],
  }),
};
const wide: View = { ...view, width: 200 };
const times = (text: string, one: string): number => text.split(one).length - 1;

test('the reason of a revert stands once in the status of a deploy and of its release, where they say how it ended', () => {
  const [ofDeploy, ofRelease] = [renderDeploy(taken.deploy, wide), renderRelease(taken.release, [taken.deploy], wide)];
  expect([times(ofDeploy, REASON), times(ofRelease, REASON)]).toEqual([1, 1]);
  expect(ofDeploy.split('\n')[1]).toBe(`Status:    ↩ reverted  ${REVERTED}`);
  expect(ofRelease).toMatch(/deploy +✖ failed .*: errors is 0\.2006/);
  expect(ofRelease).toMatch(/ reverting +reverting automatically\n.* reverted +reverted automatically\n/);
});

test('a log gives the reason of a revert once, in the line that comes first', () => {
  const { deploy: ended } = taken;
  const seen = { release: taken.release, waits: [], deploys: [ended] };
  const baking = { state: 'baking', outcome: null, timeline: ended.timeline.slice(0, 2), health: [] } as const;
  const before = { release: null, waits: [], deploys: [{ ...ended, ...baking }] };
  expect(countOf(REASON, logLines(null, seen))).toBe(1);
  expect(logLines(null, seen)[1]).toBe(`2026-11-20T14:02:07Z  kvstore/13/deploy  unhealthy: ${REASON}`);
  expect(countOf(REASON, logLines(before, seen))).toBe(0);
  expect(logLines(before, seen)).toContain(
    '2026-11-20T14:02:08Z  kvstore/13/deploy  ↩ reverted: reverted automatically',
  );
});

test('a deploy that is paused gives the reason once, and so does its release', () => {
  const why = 'the graphs look odd';
  const paused = { by: 'operator', actor: 'user:eve', at: ENDED, reason: why } as const;
  const one = deploy({ paused, summary: `paused by user:eve while baking phase first: ${why}` });
  expect(times(renderDeploy(one, wide), why)).toBe(1);
  expect(times(renderRelease(release(), [one], wide), why)).toBe(1);
});

test('a release gives once what its deploy waits for, with how long that still takes', () => {
  const until = '2026-11-23T17:00:00.000Z';
  const blockedBy = 'waiting for its window to open at 23 Nov 17:00:00';
  const waiting = deploy({ state: 'waiting-window', summary: blockedBy, blockedBy, until });
  const blocked = action({ name: 'deploy', state: 'running', endedAt: null, deploy: waiting.id, blockedBy, until });
  const shown = renderRelease(release({ actions: [blocked] }), [waiting], wide);
  expect(times(shown, blockedBy)).toBe(1);
  expect(shown).toContain(`\nNow:       ${blockedBy}, in 3d 2h\n`);
});

test('a plan that ends with the word that a person gives as a reason keeps it', () => {
  const one = { ...taken.deploy, summary: 'reverted by user:eve: completion' };
  const shown = renderDeploy({ ...one, revert: { ...one.revert!, reason: 'completion' } }, wide);
  expect(shown).toContain('1 phase over 1 unit: completion\n');
});

test('a frozen pipeline gives the reason once, however many releases wait', () => {
  const frozen = { actor: 'user:eve', at: ENDED, reason: 'quarter end' };
  const why = 'the pipeline is frozen by user:eve: quarter end';
  const waits = [13, 14].map((number) => ({ release: number, action: null, why, until: null }));
  const shown = renderPipeline(pipeline({ frozen, waits }), wide);
  expect(times(shown, 'quarter end')).toBe(1);
  expect(shown).toContain('kvstore/14  the pipeline is frozen by user:eve\n');
});
