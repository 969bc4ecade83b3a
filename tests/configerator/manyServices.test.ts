import { CONFIG_LIMITS } from '../../domain/limits';
import { newService } from '../../configerator/pushType/service';
import { PushWorld } from './pushWorld';

const { max } = CONFIG_LIMITS.services;
const PATH = 'feed/limits';

/** A service of configuration with that many unused services, and their names. */
async function full() {
  const it = await PushWorld.open();
  await it.commits({ [PATH]: 1 });
  await it.hosts.join('eu-0', 'eu', [PATH]);
  const { services } = it.fleet.memory.state;
  for (let n = 0; n < max; n += 1)
    services[`flags/old-${n}`] = newService({ repository: 'flags', paths: [`old-${n}/`] });
  return { it, services };
}

test('a service that is one too many takes the place of one with nothing under way', async () => {
  const { it, services } = await full();
  await it.ask('fetchDeployUnits', {});
  const names = Object.keys(services);
  expect([names.length, names[0], names.at(-1)]).toEqual([max, 'flags/old-1', 'flags/feed']);
});

test('no service that is exposed is forgotten: where all services are in use, one more is refused, and the number of them named', async () => {
  const { it, services } = await full();
  for (const service of Object.values(services)) service.exposed['deploy/old/1/deploy/1/0/1#'] = '[]';
  await expect(it.ask('fetchDeployUnits', {})).rejects.toThrow(
    `over-limit: the number of services of configuration is ${max + 1}, more than ${max}`,
  );
  expect(Object.keys(services)).toHaveLength(max);
});

test('a service whose updates may still be asked after is not forgotten', async () => {
  const { it, services } = await full();
  for (const [index, service] of Object.values(services).entries()) {
    service.hosts[`unit-${index}`] = [];
    const update = {
      updatedBy: [],
      exclude: [],
      units: { [`unit-${index}`]: { version: 'v', slots: [], state: 'done' } },
    };
    it.fleet.memory.state.updates[`deploy/old-${index}/1/deploy/1/0/1`] = update as never;
  }
  await expect(it.ask('fetchDeployUnits', {})).rejects.toThrow(/over-limit/);
});
