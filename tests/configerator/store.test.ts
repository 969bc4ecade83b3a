import { EtcdStore } from '../../configerator/store/etcd';
import { MemoryStore } from '../../configerator/store/memory';
import { SimulatedStore } from '../../simulator/configerator/store';
import { Simulation } from '../../simulator/simulation';
import { describeWithEtcd, Etcd } from './etcd';
import { describeStore } from './storeSuite';

let now = 0;
describeStore('the store in memory', describe, async () => {
  const store = new MemoryStore(() => now);
  return { store, another: () => store, pass: async (seconds) => void (now += seconds * 1000) };
});

describeStore('the store of the simulated tree', describe, async () => {
  const simulation = new Simulation({ seed: 1, speed: 1 });
  const store = new SimulatedStore(() => simulation.configerator);
  const pass = async (seconds: number) => void simulation.world.advanceTo(simulation.world.now + seconds * 1000);
  return { store, another: () => store, pass };
});

let etcd: Etcd | undefined;
describeStore('the store in etcd', describeWithEtcd, async () => {
  etcd = await Etcd.start();
  const make = () => new EtcdStore({ url: etcd!.url });
  return { store: make(), another: make, pass: async () => undefined };
});

afterAll(() => etcd?.close());
