import { Stepping } from '../../config/pushType/stepping';
import { Sleeps } from './sleeps';

test('after a start every service makes a step, then those alone that move or could not', async () => {
  const steps: string[] = [];
  const log: string[] = [];
  let isGone = true;
  const fleet = {
    services: ['flags/feed', 'flags/ads', 'flags/old'],
    moving: ['flags/ads'],
    sweep: () => Promise.resolve(),
    step: async (name: string) => {
      steps.push(name);
      if (name === 'flags/feed' && isGone) throw new Error('etcd does not answer');
    },
  };
  const sleeps = new Sleeps();
  const stepping = new Stepping(fleet, { sleep: sleeps.sleep, log: (line) => log.push(line) });
  const ending = new AbortController();
  const next = sleeps.next();
  const running = stepping.run(ending.signal);
  await next;
  expect(steps.splice(0)).toEqual(fleet.services);
  expect([...stepping.troubles]).toEqual([['flags/feed', 'etcd does not answer']]);
  await sleeps.pass();
  expect(steps.splice(0)).toEqual(['flags/ads', 'flags/feed']);
  isGone = false;
  await sleeps.pass();
  await sleeps.pass();
  expect(steps).toEqual(['flags/ads', 'flags/feed', 'flags/ads']);
  expect(stepping.troubles.size).toBe(0);
  expect(log).toEqual(['flags/feed: it waits: etcd does not answer', 'flags/feed: it continues']);
  ending.abort();
  await running;
});

test('a service whose store is slow keeps no other one waiting', async () => {
  const steps: string[] = [];
  let release = (): void => undefined;
  const slow = new Promise<void>((resolve) => (release = resolve));
  const fleet = {
    services: ['flags/slow', 'flags/ads'],
    moving: [],
    sweep: () => Promise.resolve(),
    step: (name: string) => {
      steps.push(name);
      return name === 'flags/slow' ? slow : Promise.resolve();
    },
  };
  const sleeps = new Sleeps();
  const ending = new AbortController();
  const running = new Stepping(fleet, { sleep: sleeps.sleep, log: () => undefined }).run(ending.signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toEqual(fleet.services);
  const next = sleeps.next();
  release();
  await next;
  ending.abort();
  await running;
});

test('a service that was forgotten is in no trouble any more', async () => {
  const services = ['flags/old'];
  const steps: string[] = [];
  const fleet = {
    services,
    moving: [],
    sweep: () => Promise.resolve(),
    step: (name: string) => {
      steps.push(name);
      return Promise.reject(new Error('etcd does not answer'));
    },
  };
  const sleeps = new Sleeps();
  const stepping = new Stepping(fleet, { sleep: sleeps.sleep, log: () => undefined });
  const ending = new AbortController();
  const next = sleeps.next();
  const running = stepping.run(ending.signal);
  await next;
  expect(stepping.troubles.size).toBe(1);
  services.pop();
  await sleeps.pass();
  expect([steps, stepping.troubles.size]).toEqual([['flags/old'], 0]);
  ending.abort();
  await running;
});

test('every service is swept once a minute, also one at rest, and one that cannot be keeps no other from it', async () => {
  const swept: string[] = [];
  const fleet = {
    services: ['flags/feed', 'flags/ads'],
    moving: [],
    step: () => Promise.resolve(),
    sweep: (name: string) => {
      swept.push(name);
      return name === 'flags/feed' ? Promise.reject(new Error('etcd does not answer')) : Promise.resolve();
    },
  };
  const sleeps = new Sleeps();
  const stepping = new Stepping(fleet, { sleep: sleeps.sleep, log: () => undefined });
  const ending = new AbortController();
  const next = sleeps.next();
  const running = stepping.run(ending.signal);
  await next;
  for (let half = 1; half < 119; half += 1) await sleeps.pass();
  expect(swept).toEqual([]);
  await sleeps.pass();
  expect(swept).toEqual(fleet.services);
  expect(stepping.troubles.size).toBe(0);
  ending.abort();
  await running;
});
