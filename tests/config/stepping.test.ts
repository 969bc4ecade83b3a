import { Stepping } from '../../config/pushType/stepping';
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
