import { ServiceStepper } from '../../configerator/pushType/stepper';
import { Sleeps } from './sleeps';

test('after a start every service makes a step, then those alone that move or could not', async () => {
  const steps: string[] = [];
  const log: string[] = [];
  let isGone = true;
  const fleet = {
    services: ['flags/feed', 'flags/ads', 'flags/old'],
    moving: ['flags/ads'],
    step: async (name: string) => {
      steps.push(name);
      if (name === 'flags/feed' && isGone) throw new Error('etcd does not answer');
    },
  };
  const sleeps = new Sleeps();
  const stepping = new ServiceStepper(fleet, { sleep: sleeps.sleep, log: (line) => log.push(line) });
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
    step: (name: string) => {
      steps.push(name);
      return name === 'flags/slow' ? slow : Promise.resolve();
    },
  };
  const sleeps = new Sleeps();
  const ending = new AbortController();
  const running = new ServiceStepper(fleet, { sleep: sleeps.sleep, log: () => undefined }).run(ending.signal);
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
    step: (name: string) => {
      steps.push(name);
      return Promise.reject(new Error('etcd does not answer'));
    },
  };
  const sleeps = new Sleeps();
  const stepping = new ServiceStepper(fleet, { sleep: sleeps.sleep, log: () => undefined });
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
