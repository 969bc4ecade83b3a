import { HOUR, MINUTE } from '../workflows/world';
import { HORIZON_MS, type Dice } from './dice';
import type { DeployWith, Happening, Scenario } from './scenario';
import { happening } from './worldTwists';

/** A story whose deploy brings configuration: the tasks of its jobs read it, and so do hosts that no job deploys to. */
export interface Configuration {
  readonly hosts: readonly { readonly name: string; readonly region: string; readonly hosts: number }[];
}

export const REPOSITORY = 'flags';
export const PATH = 'feed/build';
/** Paths of the same pipeline, and of no pipeline. */
const OTHERS = [PATH, 'feed/words', 'shop/prices'];

/** The slowest proxy. */
const SLOWEST_MS = 5 * MINUTE;

export function withConfiguration(dice: Dice, story: Scenario): Scenario {
  return dice.chance(0.12) ? configured(dice, story) : story;
}

/** The same story as one of configuration, with the faults of its distribution. */
export function configured(dice: Dice, story: Scenario): Scenario {
  const { deploy } = story.source.actions;
  const { needs: _needs, ...action } = deploy;
  const { lockstep: _lockstep, ...given } = deploy.with;
  const phases = (given.phases ?? []).map((phase) =>
    'scope' in phase && phase.scope === 'tier:small' ? { ...phase, scope: '*' } : phase,
  );
  const config = { repository: REPOSITORY, paths: ['feed/'] };
  const brings: DeployWith = { ...given, pushType: 'config', config, phases };
  const regions = story.jobs.map(({ region }) => region);
  const hosts = dice.times(2, (nth) => ({
    name: `edge${nth}`,
    region: dice.of(...regions, 'elsewhere'),
    hosts: dice.int(1, 40),
  }));
  return happening(
    {
      ...story,
      configuration: { hosts },
      source: { ...story.source, actions: { deploy: { ...action, with: brings } } },
      happenings: story.happenings.map(ofConfiguration),
    },
    [...dice.times(4, () => trouble(dice, regions)), ...(dice.chance(0.25) ? [commit(dice)] : [])],
  );
}

/** Moves a version's behaviour to its value, and a fault of the push type to the other push type. */
function ofConfiguration(it: Happening): Happening {
  if (it.kind === 'fault' && 'service' in it.fault && it.fault.service === 'twine')
    return { ...it, fault: { ...it.fault, service: 'config' } };
  if (it.kind !== 'version') return it;
  const { crashOnStart, afterMs: _afterMs, ...behaviour } = it.behaviour as { crashOnStart?: true; afterMs?: number };
  const refusing = crashOnStart ? { refuses: 'it does not know this build' } : {};
  const body = { path: PATH, when: { field: 'build', equals: it.version }, behaviour: { ...behaviour, ...refusing } };
  return { atMs: it.atMs, kind: 'config', what: 'behaviours', body };
}

function trouble(dice: Dice, regions: readonly string[]): Happening {
  const downMs = Math.round(dice.between(1_000, dice.chance(0.2) ? HOUR : 10 * MINUTE));
  const region = dice.of(...regions);
  const share = dice.of(0.1, 0.5, 1);
  const fault = dice.of<object>(
    { kind: 'leader' },
    { kind: 'observer', id: `${region}-o${dice.int(0, 1)}` },
    { kind: 'partition', id: region },
    { kind: 'proxy-slow', share, delayMs: dice.int(1_000, SLOWEST_MS) },
    { kind: 'proxy-restart', share },
    { kind: 'proxy-disk', region, share },
  );
  const atMs = dice.time(dice.chance(0.5) ? 20 * MINUTE : HORIZON_MS);
  return { atMs, kind: 'config', what: 'faults', body: { ...fault, downMs } };
}

/** A commit by another author, on any path. */
const commit = (dice: Dice): Happening => ({
  atMs: dice.time(),
  kind: 'config',
  what: 'commits',
  body: { repository: REPOSITORY, values: { [dice.of(...OTHERS)]: { build: 'by hand' } } },
});
