import { parsePeerPlace } from '../../../configerator/vessel/listen';
import { eventually } from '../../system/waiting';
import { FEED, PIECE, VesselWorld, type Host } from './vesselWorld';

let world: VesselWorld;
let host: Host;
let url: string;
beforeEach(async () => {
  world = new VesselWorld();
  host = await world.host('h1');
  ({ url } = await world.door(host));
});
afterEach(() => world.close());

test('the door for other hosts gives pieces and which there are, and knows nothing else', async () => {
  const { pack } = await world.published(3 * PIECE);
  await world.commit(pack);
  await host.proxy.ask(FEED);
  await world.whole(host, pack);
  const door = host.vessel.address ?? '';
  expect(await (await fetch(`${door}/v1/have/${pack.digest}`)).json()).toEqual({ pieces: 3, have: 'Bw==' });
  const piece = await fetch(`${door}/v1/pieces/${pack.digest}/1`);
  expect([(await piece.arrayBuffer()).byteLength, piece.headers.get('conveyor-have')]).toEqual([PIECE, 'Bw==']);
  for (const path of [
    `/v1/config/${FEED}`,
    `/v1/packages/${FEED}`,
    '/health',
    `/v1/pieces/${pack.digest}/3`,
    `/v1/pieces/${pack.digest}/-1`,
    '/v1/have/..%2Fready',
  ])
    expect([path, (await fetch(`${door}${path}`)).status]).toEqual([path, 404]);
});

test('the seventeenth who asks for a piece at once is refused, and served once another is through', async () => {
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const have = new Uint8Array([255]);
  let asked = 0;
  const read = async (): Promise<Uint8Array> => {
    asked += 1;
    await held;
    return Buffer.alloc(PIECE);
  };
  const door = await world.peer('busy', 'v1', { getBits: () => ({ pieces: 8, have }), read });
  const ask = (): Promise<Response> => fetch(`${door}/v1/pieces/${'d'.repeat(64)}/1`);
  const first = Array.from({ length: 16 }, ask);
  await eventually('sixteen are under way', async () => asked === 16);
  expect((await ask()).status).toBe(503);
  go();
  for (const one of await Promise.all(first)) expect((await one.arrayBuffer()).byteLength).toBe(PIECE);
  await eventually('it has room again', async () => (await ask()).status === 200);
});

test('applications see how far their host is, and bad questions are refused in words', async () => {
  const { pack } = await world.published(3 * PIECE);
  await world.commit(pack);
  await host.proxy.ask(FEED);
  await world.whole(host, pack);
  expect(await (await fetch(`${url}/v1/packages/${FEED}`)).json()).toMatchObject({
    ...{ path: FEED, state: 'whole', have: 3, package: { version: 1, pieces: 3, digest: pack.digest } },
  });
  const body = JSON.stringify({ path: FEED, version: 'v', app: 'a', state: 'asleep' });
  const headers = { 'content-type': 'application/json' };
  const statuses = await Promise.all([
    fetch(`${url}/v1/packages/models/other`),
    fetch(`${url}/v1/package-data/${'e'.repeat(64)}`),
    fetch(`${url}/v1/package-data/${pack.digest}?from=x`),
    fetch(`${url}/v1/packages`, { method: 'POST', body, headers }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([404, 404, 400, 400]);
});

test('a host takes reports of sixteen applications for a package, and no more', async () => {
  const { pack } = await world.published(PIECE);
  await world.commit(pack);
  await host.proxy.ask(FEED);
  await world.whole(host, pack);
  const { version } = host.vessel.status(FEED);
  const report = (n: number): void => host.vessel.report({ path: FEED, version, app: `a${n}`, state: 'ready' });
  for (let n = 0; n < 16; n += 1) report(n);
  report(3);
  expect(() => report(16)).toThrow('the number of applications of a host that use one package');
});

test.each([
  ['10.0.0.5:4701', { host: '10.0.0.5', port: 4701 }],
  ['[::1]:0', { host: '[::1]', port: 0 }],
  ['trainer-1:4710', { host: 'trainer-1', port: 4710 }],
  ['trainer', undefined],
  ['a:70000', undefined],
  ['http://a:1', undefined],
])('%s is the place %j', (text, place) => {
  expect(parsePeerPlace(text)).toEqual(place);
});
