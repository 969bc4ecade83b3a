/**
 * A user's program: applications of many hosts, each of which follows one path, prints its values, refuses a value that is not a number above zero,
 * and reports four times a second how many of its requests fail. A host without a separate proxy gets one here.
 */
export const HOSTS_PROGRAM = `
const { root, etcd, repository, home, source, hosts } = JSON.parse(process.argv[2]);
const { join } = require('node:path');
const load = (file) => require(join(root, 'dist', file));
const { serve } = require(join(root, 'node_modules/@hono/node-server'));
const { watchConfig } = load('sdk/config.js');
const { EtcdStore } = load('configerator/store/etcd.js');
const { ConfigProxy } = load('configerator/proxy/proxy.js');
const { createProxyApp } = load('configerator/proxy/app.js');
const { filesIn } = load('configerator/proxy/files.js');

async function proxyOf({ host, region }) {
  const store = new EtcdStore({ url: etcd });
  const proxy = new ConfigProxy({
    host, repository, store, labels: { region }, settleMs: 200,
    files: filesIn(join(home, host)), now: () => Date.now(), log: () => {},
  });
  await proxy.start();
  return new Promise((resolve) => {
    serve({ fetch: createProxyApp(proxy).fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve('http://127.0.0.1:' + port));
  });
}

const schema = { parse: (it) => { if (!(it > 0)) throw new Error(it + ' is not above zero'); return it; } };

async function main() {
  const watched = await Promise.all(hosts.map(async (spec) => {
    const url = spec.url ?? (await proxyOf(spec));
    const told = ({ value, commit, override }) => console.log(spec.host + ' has ' + value + ' of ' + (override ?? commit));
    return [spec.host, watchConfig(spec.path, schema, told, { url, app: spec.host, retryMs: 100 })];
  }));
  setInterval(() => {
    const points = watched.flatMap(([host, watch]) => {
      const now = watch.current();
      return now === undefined ? [] : [[host + '@' + (now.override ?? now.commit), now.value > 1000 ? 0.5 : 0]];
    });
    const body = JSON.stringify(points);
    fetch(source + '/report', { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(() => {});
  }, 250);
  console.log('ready');
}

main();
`;
