import { EtcdStore } from '../../config/store/etcd';
import { MemoryStore } from '../../config/store/memory';
import { describeWithEtcd, Etcd } from './etcd';
import { describeStore } from './storeSuite';

let now = 0;
describeStore('the store in memory', describe, async () => {
  const store = new MemoryStore(() => now);
  return { store, another: () => store, pass: async (seconds) => void (now += seconds * 1000) };
});

let etcd: Etcd | undefined;
describeStore('the store in etcd', describeWithEtcd, async () => {
  etcd = await Etcd.start();
  const make = () => new EtcdStore({ url: etcd!.url });
  return { store: make(), another: make, pass: async () => undefined };
});

afterAll(() => etcd?.close());
