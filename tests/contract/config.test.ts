import { ConfigFleet } from '../../configerator/pushType/fleet';
import { Landings } from '../../configerator/pushType/landings';
import { ConfigMemory } from '../../configerator/pushType/memory';
import type { Changes, ConfigPorts } from '../../configerator/pushType/ports';
import { configPushType } from '../../configerator/pushType/pushType';
import { MemoryStore } from '../../configerator/store/memory';
import { viaApp } from '../../sdk/client';
import { PUSH_TYPE_CHECKS } from '../../sdk/conform/pushType/suite';
import type { PushTypeSubject } from '../../sdk/conform/pushType/world';
import { judgeTargets } from '../../sdk/health';
import { Hosts } from '../configerator/hosts';
import { describeSuite } from './suite';

/** The push type of configuration over a store in memory, and a repository that has nothing but these versions. */

const R = 'flags';
const PATH = 'feed/limits';
const VERSIONS = ['1@aaa', '2@bbb', '3@ccc', '9@dead'];

class Repository implements Changes {
  readonly commits: string[] = [];
  private readonly restored = new Map<number, string | null>();
  private changes = 100;

  constructor(private readonly store: MemoryStore) {}

  async commit(version: string | null): Promise<string> {
    const sequence = this.commits.push(version ?? '');
    const commit = `c${sequence}`;
    const values = [{ path: PATH, value: version, version: version === null ? '' : `blob of ${version}` }];
    await this.store.apply(R, { commit, sequence, values });
    return commit;
  }
  contentOf: Changes['contentOf'] = async (_, version) => ({
    change: Number.parseInt(version, 10),
    content: { [PATH]: { value: version, version: `blob of ${version}` } },
    landed: this.commits.includes(version) ? `c${this.commits.lastIndexOf(version) + 1}` : null,
  });
  committedVersion: Changes['committedVersion'] = async (_, _paths, head, since) =>
    head === since ? null : (this.commits[Number(head.slice(1)) - 1] ?? null);
  restore: Changes['restore'] = async (_, _paths, to) => {
    this.changes += 1;
    this.restored.set(this.changes, this.commits[Number(to?.slice(1)) - 1] ?? '');
    return this.changes;
  };
  remove: Changes['remove'] = async () => {
    this.changes += 1;
    this.restored.set(this.changes, null);
    return this.changes;
  };
  whyNotLand: Changes['whyNotLand'] = async () => undefined;
  contains: Changes['contains'] = async (_, newer, older) => Number(newer.slice(1)) >= Number(older.slice(1));

  land: ConfigPorts['land'] = async ({ change }) => {
    const restored = this.restored.get(change);
    const proposed = VERSIONS.find((it) => it.startsWith(`${change}@`)) ?? '';
    const version = restored === undefined ? proposed : restored;
    return { change, commit: await this.commit(version) };
  };
}

async function subject(): Promise<PushTypeSubject> {
  const store = new MemoryStore(() => 0);
  const repository = new Repository(store);
  await repository.commit('1@aaa');
  const hosts = new Hosts(store, R);
  hosts.refuses = (value) => (value === '9@dead' ? 'no such limit' : undefined);
  for (const region of ['eu', 'us']) for (let n = 0; n < 8; n += 1) await hosts.join(`${region}-${n}`, region, [PATH]);
  const ports: ConfigPorts = {
    storeOf: () => store,
    changes: repository,
    land: repository.land,
    log: () => undefined,
    now: () => 0,
  };
  const fleet = new ConfigFleet(new ConfigMemory(null), ports, new Landings(ports));
  const app = configPushType(fleet, (request) =>
    judgeTargets({ ...request, query: () => Promise.resolve({ series: [] }) }),
  );
  const round = async () => {
    for (const service of fleet.services) await fleet.step(service);
    await hosts.look();
  };
  return {
    fetch: viaApp(app),
    url: 'http://config',
    config: { repository: R, paths: ['feed/'] },
    units: ['flags/feed:eu', 'flags/feed:us'],
    sizes: [8, 8],
    version: '1@aaa',
    newVersions: ['2@bbb', '3@ccc'],
    deadVersion: '9@dead',
    ...{ pipeline: 'feed', release: 12 },
    now: () => 0,
    tick: round,
    settle: async () => {
      for (let n = 0; n < 20; n += 1) await round();
    },
    grow: (unit) => hosts.join(`more-${hosts.all.length}`, unit.split(':')[1] ?? '', [PATH]),
  };
}

describeSuite('push type config', PUSH_TYPE_CHECKS, subject, ['pages', 'shiftTraffic']);
