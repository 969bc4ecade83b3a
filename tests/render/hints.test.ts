import { renderDeploy } from '../../render/deploy';
import { renderRelease } from '../../render/release';
import type { View } from '../../render/paint';
import { nextCommands } from '../../domain/deploy/view';
import { conveyorError } from '../../domain/errors';
import { whyNotRerun } from '../../domain/pipeline/rerun';
import { recordRelease } from '../../domain/pipeline/recordOutcome';
import type { ReleaseStatus } from '../../domain/views';
import { action, deploy, NOW, release } from '../builders/cliSamples';
import { artifact, pipelineOf, resultOf, running } from '../builders/pipelineWorld';

const view: View = { width: 200, color: false, now: NOW, timeZone: 'UTC' };

/** The commands that a text names: `conveyor status kvstore/13`. */
const named = (text: string): string[] =>
  [...text.matchAll(/conveyor [a-z-]+(?: [a-z0-9/]+| FILE)?/g)].map(([one]) => one);

const ended = (more: Partial<ReleaseStatus> = {}) =>
  release({ state: 'failed', endedAt: '2026-11-20T14:02:00.000Z', actions: [action()], ...more });

/** A release that failed, and is refused to run again since a newer one has begun. */
const overtaken = () => {
  const failed = recordRelease(running(pipelineOf(), artifact('kv:2')), { ...resultOf(1, []), state: 'failed' }, NOW);
  return whyNotRerun({ ...failed, newestBegun: { deploy: 2 } }, 1)?.instead ?? '';
};

const over = { stage: 'ended', control: {} } as never;

/** The next commands that each command suggests if it fails, or if all is over. */
const HINTS: Readonly<Record<string, string>> = {
  'conveyor status kvstore/13': renderRelease(ended(), [deploy({ state: 'ended', outcome: 'failed' })], view),
  'conveyor status kvstore/13/deploy': renderDeploy(
    deploy({ state: 'ended', outcome: 'failed', next: nextCommands(over, 'kvstore/13/deploy') }),
    view,
  ),
  'conveyor status kvstore/14/deploy': conveyorError('invalid-state', {
    ...{ verb: 'show', id: 'kvstore/14/deploy', why: 'it has not begun: release 13 deploys' },
  }).hint,
  'conveyor rerun kvstore/13': overtaken(),
  'conveyor plan FILE': conveyorError('plan-impossible', { why: 'no units' }).hint,
  'conveyor lint FILE': conveyorError('file-unreadable', { file: 'FILE', detail: 'gone' }).hint,
  'conveyor apply FILE': conveyorError('invalid-file', { file: 'FILE', problems: 1 }).hint,
};

test('no hint leads in a circle: to what was just typed, or to what sends them back', () => {
  const circles = Object.entries(HINTS).flatMap(([command, hint]) =>
    named(hint)
      .filter((next) => next === command || named(HINTS[next] ?? '').includes(command))
      .map((next) => `${command} → ${next}`),
  );
  expect(circles).toEqual([]);
  // It does see what they name.
  expect(named(HINTS['conveyor status kvstore/13'] ?? '')).toContain('conveyor rerun kvstore/13');
});
