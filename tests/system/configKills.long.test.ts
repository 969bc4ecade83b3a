import { describeWithEtcd, Etcd } from '../configerator/etcd';
import { ConfigCampaign } from './configCampaign';
import { ConfigWorld } from './configWorld';
import { openStore } from './worldStore';

/** `npm run chaos -- --kills N --from SEED --within MS`, by hand; the tests run only a few. */
const ASKED = process.env['CONVEYOR_CONFIG_KILLS'] ?? '1:10:600';
const [SEED = 1, KILLS = 10, WITHIN_MS = 600] = ASKED.split(':').map(Number);

describeWithEtcd('proxies, tailer, worker and etcd are killed at any moment while changes land', () => {
  let world: ConfigWorld;
  let etcd: Etcd;

  beforeAll(async () => {
    etcd = await Etcd.start();
    world = await ConfigWorld.open(openStore(etcd));
  });
  afterAll(() => world?.close());

  test(
    'and no commit is lost or comes twice, no host gets an uncommitted value or goes back, and every host ends at the last one',
    async () => {
      process.stderr.write(`seed ${SEED}, ${KILLS} kills\n`);
      const paths = ['kills/one', 'kills/two'];
      const hosts = (await Promise.all(paths.map((path) => world.proxied(2, 'eu', path)))).flat();
      await world.run(hosts);
      const campaign = new ConfigCampaign(world, etcd, paths, hosts, SEED, WITHIN_MS);
      await campaign.run(KILLS);
      expect(await campaign.judge()).toEqual([]);
      expect(campaign.acknowledged.length).toBeGreaterThan(0);
      expect(Object.values(campaign.deaths).reduce((sum, count) => sum + count, 0)).toBe(KILLS);
      process.stderr.write(`${JSON.stringify(campaign.deaths)}, ${campaign.acknowledged.length} landed\n`);
    },
    KILLS > 10 ? 14_400_000 : 180_000,
  );
});
