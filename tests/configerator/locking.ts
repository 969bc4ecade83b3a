import { EtcdStore } from '../../configerator/store/etcd';
import { EtcdLock } from '../../configerator/store/etcdRoles';
import { hostUser, planLock, type LockStep, type WantedUsers } from '../../configerator/store/lockPlan';
import type { Etcd } from './etcd';

export const WANTED: WantedUsers = {
  ...{ repository: 'flags', hosts: ['h1'], rootPassword: 'the administrator' },
  service: { user: 'service', password: 'the service' },
};

export const doorOf = (etcd: Etcd): EtcdLock =>
  new EtcdLock({ url: etcd.url, ...(etcd.certificates && { tls: etcd.certificates }) }, WANTED.rootPassword);

/** Does what `planLock` says. */
export async function takeSteps(etcd: Etcd, wanted: Partial<WantedUsers> = {}): Promise<LockStep[]> {
  const door = doorOf(etcd);
  const present = await door.present(WANTED.repository);
  const steps = planLock({ ...WANTED, ...wanted }, present);
  for (const step of steps) await door.take(step, present.isLocked);
  return steps;
}

/** Locks a store; the passwords of its new hosts. */
export async function lock(etcd: Etcd, wanted: Partial<WantedUsers> = {}): Promise<Map<string, string>> {
  const steps = await takeSteps(etcd, wanted);
  return new Map(steps.flatMap(({ issued }) => (issued ? [[issued.host, issued.password]] : [])));
}

/** The store, as a host enters it. */
export const asHost = (etcd: Etcd, host: string, passwords: ReadonlyMap<string, string>): EtcdStore =>
  new EtcdStore({ url: etcd.url, login: { user: hostUser(host), password: passwords.get(host) ?? '' } });

export const asService = (etcd: Etcd): EtcdStore => new EtcdStore({ url: etcd.url, login: WANTED.service });
