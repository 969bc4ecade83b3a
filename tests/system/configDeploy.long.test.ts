import { describeWithEtcd, Etcd } from '../configerator/etcd';
import { ConfigWorld } from './configWorld';
import { openStore } from './worldStore';

const [FEED, ADS] = ['feed/limits', 'ads/limits'];

/** Names of hosts: `name1`, `name2`, … */
const named = (name: string, count: number, region: string, path: string) =>
  Array.from({ length: count }, (_, at) => ({ host: `${name}${at + 1}`, region, path }));

/** Hosts that ever had a value. */
const hostsWith = (world: ConfigWorld, value: number): string[] => [
  ...new Set(world.got().flatMap((got) => (got.value === value ? [got.host] : []))),
];

describeWithEtcd('a change of configuration, on forty hosts, then fifty', () => {
  let world: ConfigWorld;

  beforeAll(async () => {
    world = await ConfigWorld.open(openStore(await Etcd.start()));
    const proxied = await world.proxied(10, 'eu', FEED);
    await world.run([...proxied, ...named('e', 27, 'eu', FEED), ...named('u', 3, 'us', FEED)]);
    await world.run(named('a', 4, 'eu', ADS));
    await world.pipeline('feed', { finder: 'config-changes', with: { repository: 'flags', paths: ['feed/'] } });
  });
  afterAll(() => world?.close());

  test('waits for one service alone: a second one on the same state does not start, and says who has it', async () => {
    const { first, code, stderr } = await world.secondService();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`^error: files-in-use: the state .* is in use by process ${first} on `, 'm'),
      ),
    });
  });

  test('that is the first one is found, deployed, and lands for all', async () => {
    await world.proposes({ [FEED]: 1 });
    expect(await world.ended('feed/1')).toMatchObject({
      outcome: 'succeeded',
      phases: [{ units: [{ targeted: 10 }] }, {}],
    });
    await world.allHave(40, FEED, 1);
    expect(await world.landed()).toEqual([1]);
  });

  test('that makes hosts fail reaches the ten of the first phase, is judged on them, and is gone before anything is committed', async () => {
    const version = await world.proposes({ [FEED]: 5_000 });
    const deploy = await world.ended('feed/2');
    expect(deploy).toMatchObject({ outcome: 'reverted', classification: 'good-failure', version });
    expect(deploy.revert?.reason).toMatch(/errors is 0\.5, above the limit of 0\.05 \(mean of 10 tasks/);
    await world.allHave(40, FEED, 1);
    const reached = hostsWith(world, 5_000);
    expect(reached).toHaveLength(10);
    expect(reached.every((host) => !host.startsWith('u'))).toBe(true);
    expect(await world.landed()).toEqual([1]);
  });

  test('that is good lands once for all, while ten hosts join and service and worker are killed in the middle', async () => {
    const version = await world.proposes({ [FEED]: 20 });
    await world.reaches('feed/3', 'bakes its first phase', ({ state }) => state === 'baking');
    await world.crash();
    const joined = named('j', 10, 'us', FEED);
    await world.run(joined);
    expect(await world.ended('feed/3')).toMatchObject({ outcome: 'succeeded', version });
    await world.allHave(50, FEED, 20);
    const first = world.got().filter(({ host, of }) => host.startsWith('j') && of === version);
    expect(first).toEqual([]);
    expect(await world.landed()).toEqual([1, 3]);
  });

  test('that a person cancels stays with the hosts that had it, which says whose it is, until one command takes it back', async () => {
    const version = await world.proposes({ [FEED]: 25 });
    await world.reaches('feed/4', 'bakes its first phase', ({ state }) => state === 'baking');
    await world.stack.client.command('feed/4', 'cancel', { actor: 'user:alice', reason: 'I want to look' });
    expect(await world.ended('feed/4')).toMatchObject({ outcome: 'cancelled', version });
    expect(await world.exposed(FEED)).toEqual([{ deploy: 'feed/4/deploy', revision: version }]);
    expect((await world.has(FEED)).filter(({ revision }) => revision === version)).toHaveLength(10);
    await world.stack.client.command('feed/4', 'revert', { actor: 'user:alice', reason: 'I have seen enough' });
    expect(await world.ended('feed/5')).toMatchObject({ outcome: 'succeeded' });
    await world.allHave(50, FEED, 20);
    expect(await world.exposed(FEED)).toEqual([]);
    expect(await world.landed()).toEqual([1, 3]);
    await world.stack.client.command('feed', 'unhold', { actor: 'user:alice', reason: 'I am done' });
  });

  test('lands beside one of other files, from two deploys at once; the second change of the same file is refused by name before a host sees it', async () => {
    for (const name of ['feed', 'ads']) await world.pipeline(name, { finder: 'manual' });
    const [one, two, other] = [
      await world.proposes({ [FEED]: 30 }),
      await world.proposes({ [FEED]: 31 }),
      await world.proposes({ [ADS]: 7 }),
    ];
    const releases = [await world.releases('feed', one), await world.releases('ads', other)];
    const second = await world.releases('feed', two);
    const ended = await Promise.all(releases.map((release) => world.ended(release)));
    expect(ended).toMatchObject([{ outcome: 'succeeded' }, { outcome: 'succeeded' }]);
    expect((await world.landed()).slice(0, 2)).toEqual([1, 3]);
    expect((await world.landed()).slice(2).sort()).toEqual([5, 7]);
    await world.allHave(4, ADS, 7);
    const refused = await world.ended(second);
    expect(refused).toMatchObject({ outcome: 'failed' });
    expect(JSON.stringify(refused)).toContain('change 6 cannot land: feed/limits.json was changed by change 5');
    await world.allHave(50, FEED, 30);
    expect(await world.landed()).toHaveLength(4);
  });
});
