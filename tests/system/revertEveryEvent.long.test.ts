import { isDeepStrictEqual } from 'node:util';
import { workflowIds } from '../../domain/ids';
import { reached } from '../chaos/everyEvent';
import { given, type Given, type Service } from './service';
import { OWNER, Stack } from './stack';
import { eventually } from './waiting';

/** `CONVEYOR_REVERTS=all`, by hand: reverts after every event of both histories; `=20` at that many moments of each. */
const { CONVEYOR_REVERTS: wanted = '5' } = process.env;
const MOMENTS = wanted === 'all' ? Infinity : Number(wanted);

/** Every wait of this release takes longer than a revert may, except waits for the processes. */
const LIFE: Given = {
  restartMs: 15_000,
  nSmall: 10,
  deploy: { phases: [{ name: 'first', scope: 'region:x', amount: 3, bake: '15s' }], completion: { bake: '15s' } },
};
/** On an idle machine a command takes effect within a second; the other tests leave little time to this machine. */
const WITHIN_MS = 12_000;
const TOGETHER = 4;

const WHOSE = ['deploy', 'release'] as const;
interface Moment {
  readonly whose: (typeof WHOSE)[number];
  readonly events: number;
}

interface Asked {
  readonly moment: Moment;
  /** The time from the request until the revert began. */
  readonly ms: number;
  readonly runs: object;
  readonly refused?: string;
}

let stack: Stack;
beforeAll(async () => (stack = await Stack.open()));
afterAll(() => stack.close());

const historyOf = ({ name }: Service, { whose }: Pick<Moment, 'whose'>): string =>
  whose === 'deploy' ? workflowIds.deploy(name, 1, 'deploy', 1) : workflowIds.release(name, 1);

const begins = (shop: Service, { whose, events }: Moment): Promise<number> =>
  reached(stack.temporal, historyOf(shop, { whose }), events);

/** A life without interruption: the numbers of events in its histories. */
async function lives(): Promise<Record<Moment['whose'], number>> {
  const shop = await given(stack, LIFE);
  await shop.ships(2);
  await shop.ended(1);
  const [deploy, release] = await Promise.all(WHOSE.map((whose) => begins(shop, { whose, events: Infinity })));
  return { deploy, release } as Record<Moment['whose'], number>;
}

const reverts = (shop: Service) =>
  stack.client.command(`${shop.name}/1`, 'revert', { actor: OWNER, reason: 'it is bad' });

/** The passing reason for which a revert may be refused: the release is about to end, which its pipeline learns next. */
const PASSING = /its end is being recorded: ask again$/;

/** One life up to a moment at which a person reverts it, with retries for as long as that is refused for a passing reason. */
async function revertsAt(moment: Moment): Promise<Asked> {
  const shop = await given(stack, LIFE);
  await shop.ships(2);
  await begins(shop, moment);
  const askedMs = Date.now();
  const refused = await reverts(shop).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  if (refused !== undefined) await eventually('the revert is taken', () => reverts(shop).then(() => true));
  const ms = (await beganAt(shop)) - askedMs;
  await eventually('all is over', async () => {
    const status = await stack.client.status(shop.name);
    return status.kind === 'pipeline' && status.active.length === 0;
  });
  return { moment, ms, runs: await shop.runs(), ...(refused === undefined ? {} : { refused }) };
}

/** When the deploy began to revert, or its rollback began; if there was nothing to revert, when the release ended. */
function beganAt(shop: Service): Promise<number> {
  return eventually('the revert began', async () => {
    const { endedAt, actions } = await shop.release(1);
    const revert = actions.some(({ deploy }) => deploy !== null) ? (await shop.deploy(1)).revert : null;
    const rollback = endedAt === null ? null : await shop.release(2).catch(() => null);
    const at = revert?.startedAt ?? rollback?.startedAt ?? endedAt;
    return at !== null && Date.parse(at);
  });
}

/** This many of the events from the first to the last, evenly spaced. */
function momentsOf(whose: Moment['whose'], atEnd: number): Moment[] {
  const step = Math.max(1, atEnd / MOMENTS);
  return Array.from({ length: Math.floor(atEnd / step) }, (_, at) => ({ whose, events: Math.round((at + 1) * step) }));
}

test('a person’s revert begins at once after whatever event of a release, or says why not yet, and brings all back', async () => {
  const { deploy, release } = await lives();
  const moments = [...momentsOf('deploy', deploy), ...momentsOf('release', release)];
  const asked: Asked[] = [];
  const line = async (): Promise<void> => {
    for (let moment = moments.shift(); moment; moment = moments.shift()) asked.push(await revertsAt(moment));
  };
  await Promise.all(Array.from({ length: TOGETHER }, line));
  const isRight = ({ ms, refused, runs }: Asked): boolean =>
    ms <= WITHIN_MS && (refused === undefined || PASSING.test(refused)) && isDeepStrictEqual(runs, { 1: 12 });
  expect(asked.filter((one) => !isRight(one))).toEqual([]);
  const times = asked.map(({ ms }) => ms).sort((a, b) => a - b);
  const refusals = asked.filter(({ refused }) => refused !== undefined).length;
  process.stderr.write(
    `${asked.length} reverts, ${refusals} refused at first; median ${times[times.length >> 1]} ms, slowest ${times.at(-1)} ms\n`,
  );
}, 7_200_000);
