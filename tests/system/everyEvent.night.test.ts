import { STORIES, tell, type Told } from '../chaos/everyEvent';
import { Stack } from './stack';

/** `CONVEYOR_CRASHES=all`, by hand: crashes after every event of each history; `=20` at that many moments. The tests run one, in the middle. */
const { CONVEYOR_CRASHES: wanted = '1' } = process.env;
const MOMENTS = wanted === 'all' ? Infinity : Number(wanted);

describe('a worker that is killed, after whatever event of the history, changes neither the end nor the effects', () => {
  test.concurrent.each(Object.entries(STORIES))(
    'of %s',
    async (title, story) => {
      const stack = await Stack.open();
      try {
        const calm = await tell(stack, story);
        expect(calm.deploy).toMatchObject({ outcome: story.outcome });
        const { atEnd } = calm.events;
        const step = Math.ceil(atEnd / (MOMENTS + 1)) || 1;
        const moments: number[] = [];
        for (let after = step; after < atEnd; after = Math.max(after, moments.at(-1) ?? 0) + step) {
          const crashed = await tell(stack, story, after);
          expect({ ...seen(crashed), after }).toEqual({ ...seen(calm), after });
          moments.push(crashed.events.atCrash);
        }
        expect(moments).not.toEqual([]);
        if (MOMENTS > 1)
          process.stderr.write(`${title}: killed ${moments.length} times in ${atEnd} events: ${moments.join(' ')}\n`);
      } finally {
        await stack.close();
      }
    },
    MOMENTS > 1 ? 7_200_000 : 180_000,
  );
});

const seen = ({ events: _events, ...same }: Told) => same;
