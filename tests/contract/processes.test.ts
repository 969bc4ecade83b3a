import { processesPushType } from '../../examples/push-types/processes/pushType';
import { viaApp } from '../../sdk/client';
import { describePushType } from './pushType';
import { ProcessesHome, settle } from './processesFleet';

/** The push type of examples/push-types/processes, with real processes. They move only when a test lets them: one step at a time. */

const SIZE = 6;
const home = new ProcessesHome();
afterAll(() => home.close());

const nobodyAsks = (): never => {
  throw new Error('no test of the suite asks for health');
};

describePushType('processes', async () => {
  home.forget(SIZE);
  const fleet = home.open({ 'kv-x': SIZE, 'kv-y': SIZE });
  await settle(fleet);
  return {
    ...{ fetch: viaApp(processesPushType(fleet, nobodyAsks)), url: 'http://processes' },
    config: { units: ['kv-x', 'kv-y'] },
    units: ['kv-x', 'kv-y'],
    ...{ size: SIZE, version: 'kv:1', deadVersion: 'dead:1' },
    tick: async () => void (await Promise.all(fleet.unitNames.map((unit) => fleet.step(unit)))),
    settle: () => settle(fleet),
    grow: (unit) => Promise.resolve(fleet.resize(unit, fleet.state.units[unit]!.slots.length + 1)),
  };
});
