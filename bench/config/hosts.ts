import { serve } from '@hono/node-server';
import { createProxyApp } from '../../configerator/proxy/app';
import { filesIn } from '../../configerator/proxy/files';
import { ConfigProxy } from '../../configerator/proxy/proxy';
import { EtcdStore } from '../../configerator/store/etcd';
import { watchConfig } from '../../sdk';

/** Hosts of a benchmark in their own process: each a proxy with its own connections, disk cache and door, and an application. */

export const [R, PATH] = ['bench', 'shop/limits'];

export interface HostsToStart {
  readonly etcd: string;
  readonly home: string;
  readonly names: readonly string[];
}

/** The last host of this process has the value `n`: in its proxy, or in its application. In ms since the epoch. */
export interface Reached {
  readonly where: 'proxy' | 'application';
  readonly n: number;
  readonly at: number;
}

async function startHost(
  { etcd, home }: HostsToStart,
  name: string,
  has: (where: Reached['where'], n: number) => void,
) {
  const proxy = new ConfigProxy({
    ...{ host: name, repository: R, labels: { region: 'eu' } },
    store: new EtcdStore({ url: etcd }),
    files: filesIn(`${home}/${name}`),
    now: () => Date.now(),
    log: () => undefined,
  });
  await proxy.start();
  const { fetch } = createProxyApp(proxy);
  const port = await new Promise<number>((resolve) =>
    serve({ fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }, (at) => resolve(at.port)),
  );
  proxy.listen([PATH], ({ value }) => value !== null && has('proxy', valueOf(JSON.parse(value))));
  const asNumber = { parse: valueOf };
  watchConfig(PATH, asNumber, ({ value }) => has('application', value), { url: `http://127.0.0.1:${port}` });
}

const valueOf = (value: unknown): number => (value as { readonly n: number }).n;

process.once('message', (message) => {
  const start = message as HostsToStart;
  const counts = new Map<string, number>();
  const has = (where: Reached['where'], n: number): void => {
    const key = `${where} ${n}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (counts.get(key) === start.names.length) process.send?.({ where, n, at: Date.now() } satisfies Reached);
  };
  for (const name of start.names) void startHost(start, name, has);
});
