import { compile } from '../../../configerator/compiler/compile';
import { control } from '../../simulator';
import type { Stage } from '../demo';
import { demoSources } from './sources';
import { HOSTS_EACH, MOST, PATH, REGIONS, REPOSITORY, type ConfigWorld, type HostCounts } from './world';

/** The store and the hosts of the simulated world (docs/reference/fleet.md), used if this machine has no etcd. */
export async function openSimulated({ stack }: Stage): Promise<ConfigWorld> {
  const call = (method: string, path: string, body?: unknown): Promise<unknown> =>
    control(stack.addresses.simulator, method, `/control/config/${path}`, body);
  const on = { repository: REPOSITORY, path: PATH };
  const refuses = `hard is more than ${MOST}, which is all that a server can do`;
  for (const region of REGIONS)
    await call('POST', 'subscribers', {
      ...{ name: region, region, hosts: HOSTS_EACH, repository: REPOSITORY, paths: [PATH] },
    });
  await call('POST', 'behaviours', { ...on, when: { field: 'hard', above: MOST }, behaviour: { refuses } });
  const hosts = REGIONS.length * HOSTS_EACH;
  return {
    store: `a simulated store with ${hosts} simulated hosts, because this machine has no etcd (scripts/etcd.sh installs it)`,
    propose: async (limits) => {
      const { values } = await compile(demoSources(limits));
      const given = Object.fromEntries(values.map(({ path, text }) => [path, JSON.parse(text) as unknown]));
      const proposed = await call('POST', 'changes', { repository: REPOSITORY, values: given });
      return (proposed as { readonly version: string }).version;
    },
    counts: async () =>
      (await call('GET', `subscribers?repository=${REPOSITORY}&path=${encodeURIComponent(PATH)}`)) as HostCounts,
  };
}
