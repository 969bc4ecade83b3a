import { buildDrafts, type Draft, type DraftSeed } from '../domain/offers/stories/drafts';
import { kvstore } from '../workflows/pipelines';
import type { Dice } from './dice';
import { Drawing } from './offerEvents';
import type { Job, Member, Scenario } from './scenario';
import { happening } from './worldTwists';

/** The version of the last release of each pipeline. */
export const LAST_VERSION = 'last:1';

/** The same story among other pipelines: they offer to each other and to it, and change and withdraw their offers. */
export function linked(dice: Dice, story: Scenario): Scenario {
  const count = dice.int(2, 5);
  const first = dice.int(0, count - 1);
  const isTwisted = dice.chance(0.35);
  const seeds = Array.from({ length: count }, () => seedOf(dice));
  // A canary and a deploy before the main one do not go together with all that a story may do to them.
  if (story.source.actions['canary']) seeds[first] = { ...seeds[first]!, deploys: 1 };
  const drafts = buildDrafts(seeds, false);
  const members = drafts.map((draft, nth) => memberOf(dice, story, draft, nth === first ? story : undefined));
  const drawing = new Drawing(dice, { drafts, members, isTwisted, takes: drafts.map(() => dice.chance(0.15)) });
  const [main, ...others] = [first, ...drafts.keys()]
    .filter((nth, at, all) => all.indexOf(nth) === at)
    .map((nth) => ({ ...members[nth]!, source: drawing.fileOf(nth, drafts[nth], false) }));
  const happenings = [...drawing.begin(first), ...drawing.draw(count)];
  const last = drawing.lastFiles();
  return happening({ ...story, ...main, offering: { others, last } }, happenings);
}

const seedOf = (dice: Dice): DraftSeed => ({
  deploys: dice.of(1, 1, 2),
  chained: dice.chance(0.7),
  offers: Array.from({ length: dice.int(1, 2) }, () => dice.int(0, 127)),
  wishes: Array.from({ length: dice.int(1, 3) }, () => dice.int(0, 511)),
});

/** A pipeline with a file that offers nothing yet; `story` if it is that of the story. */
function memberOf(dice: Dice, { pipeline: prefix }: Scenario, draft: Draft, story: Member | undefined): Member {
  const pipeline = story?.pipeline ?? `${prefix}-${draft.name}`;
  const early = draft.deploys.length > 1 ? [jobOf(dice, pipeline, 'early')] : [];
  if (story) return { ...story, pipeline, jobs: [...story.jobs, ...early] };
  const job = jobOf(dice, pipeline, 'job');
  const few = { name: 'few', scope: '*', amount: '50%', bake: `${dice.int(0, 2)}m` } as const;
  const deploy = {
    config: { jobs: [job.name] },
    phases: dice.chance(0.4) ? [few] : [],
    completion: { bake: `${dice.int(1, 5)}m` },
    healthInterval: '1m',
  };
  const releases = { onRevert: dice.of('continue' as const, 'hold' as const) };
  return {
    pipeline,
    source: kvstore(deploy, { pipeline, releases }) as Member['source'],
    jobs: [job, ...early],
  };
}

const jobOf = (dice: Dice, pipeline: string, name: string): Job => ({
  name: `${pipeline}-${name}`,
  region: dice.of('x', 'y'),
  tasks: dice.int(1, 4),
  more: { service: `${pipeline}-${name}`, version: 'none:1' },
});
