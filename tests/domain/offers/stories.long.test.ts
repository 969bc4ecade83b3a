import fc from 'fast-check';
import { Play } from './stories/play';
import { stories, type Story } from './stories/story';

/**
 * Random stories of pipelines that wish of each other, with all that people and Temporal may do to them. The product decides with its own functions; the
 * sequence of its workflows and activities is repeated in `stories/`. The invariants are numbered in `stories/watch.ts` and `stories/settled.ts`:
 * 1. no deploy begins while a wish of its action is unsatisfied at its pin,
 * 2. no offer is withdrawn or changed against a pin,
 * 3. a rollback, an emergency and a follow-on begin, unless a value is nowhere,
 * 4. in the end everything that is satisfied is deployed,
 * 5. and both sides agree on the pins,
 * 6. files with a circle of deploys are refused, with the circle,
 * 7. an offer that the version that runs does not make is marked, and no other,
 * 8. each value that a running version uses has a pin, or people know that it has none.
 *
 * `STORIES=50000 STORY_SEED=7 npx jest tests/domain/offers/stories` plays others.
 */
const numRuns = Number(process.env['STORIES'] ?? 500);
const seed = Number(process.env['STORY_SEED'] ?? Date.now() % 1_000_000);

test('offers keep their promises, with any messages late, lost and repeated', () => {
  console.info(`stories of seed ${seed}`);
  const missing = new Map(MOMENTS);
  const property = fc.property(stories, (story) => {
    const play = new Play(story);
    play.play();
    for (const [moment, lines] of missing) if (lines.test(play.world.lines.join('\n'))) missing.delete(moment);
  });
  fc.assert(property, { numRuns, seed, reporter: report });
  // The stories are about these moments.
  expect([...missing.keys()]).toEqual([]);
});

const MOMENTS: readonly (readonly [string, RegExp])[] = [
  ['two versions of a user run', /board p\d+: .*(p\d+\/d\d)@(\d+) uses (o\d)#\d+, \1@(?!\2)\d+ uses \3/],
  ['an offer is withdrawn after its users', /withdrawing/],
  ['a change keeps new users away', / changes o\d/],
  ['a deploy waits for the users of its offers', /does not fit|is removed, but/],
  ['a deploy that does not wait pins later', /: pin anyway/],
  ['a value is nowhere', /no value of it is known/],
  ['a deploy is stopped halfway', /: unpin somewhere/],
  ['a person ends a use', /: end-use/],
  ['a deploy is renamed', /is renamed/],
  ['a circle is refused', /is refused: /],
  ['a rollback or an emergency does not make an offer that is used', /, not made by \d+/],
  ['a release is terminated', /is terminated/],
  ['a message is lost for good', / is lost\n/],
];

function tell(story: Story): { readonly lines: string; readonly broken: string | null } {
  const play = new Play(story);
  try {
    play.play();
    return { lines: play.world.lines.join('\n'), broken: null };
  } catch (error) {
    return { lines: play.world.lines.join('\n'), broken: error instanceof Error ? error.message : String(error) };
  }
}

/** Everything that happened in the smallest story that fails. */
function report({ failed, seed: from, counterexamplePath, counterexample, numShrinks }: fc.RunDetails<[Story]>): void {
  if (!failed || counterexample === null) return;
  const { lines, broken } = tell(counterexample[0]);
  throw new Error(`${lines}\n\n${broken}\nSTORY_SEED=${from}, path ${counterexamplePath}, ${numShrinks} times smaller`);
}
