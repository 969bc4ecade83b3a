import { sweepEveryMinute } from '../../configerator/pushType/sweep';
import { Sleeps } from './sleeps';

test('every service is swept once a minute, and one that cannot be keeps no other from it', async () => {
  const swept: string[] = [];
  const fleet = {
    services: ['flags/feed', 'flags/ads'],
    sweep: (name: string) => {
      swept.push(name);
      return name === 'flags/feed' ? Promise.reject(new Error('etcd does not answer')) : Promise.resolve();
    },
  };
  const sleeps = new Sleeps();
  const ending = new AbortController();
  const running = sweepEveryMinute(fleet, sleeps, ending.signal);
  expect(sleeps.waiting.map(({ ms }) => ms)).toEqual([60_000]);
  expect(swept).toEqual([]);
  await sleeps.pass();
  expect(swept).toEqual(fleet.services);
  await sleeps.pass();
  expect(swept).toEqual([...fleet.services, ...fleet.services]);
  ending.abort();
  await running;
});

test('a sweep whose store is silent has no second one begin beside it, and after the end no service is swept any more', async () => {
  const swept: string[] = [];
  let release = (): void => undefined;
  const silent = new Promise<void>((resolve) => (release = resolve));
  const services = Array.from({ length: 20 }, (_, nth) => `flags/${nth}`);
  const fleet = {
    services,
    sweep: (name: string) => {
      swept.push(name);
      return silent;
    },
  };
  const sleeps = new Sleeps();
  const ending = new AbortController();
  const running = sweepEveryMinute(fleet, sleeps, ending.signal);
  sleeps.waiting[0]?.end();
  await new Promise((resolve) => setImmediate(resolve));
  expect([swept.length, sleeps.waiting.length]).toEqual([16, 0]);
  ending.abort();
  release();
  await running;
  expect(swept.length).toBe(16);
});
