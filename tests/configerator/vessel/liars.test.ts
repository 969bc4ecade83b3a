import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Package } from '../../../configerator/domain/vessel/package';
import { describePackage } from '../../../configerator/vessel/source';
import { eventually } from '../../system/waiting';
import { commitOf, versionOf } from '../storeSuite';
import { FEED, PIECE, R, VesselWorld, type Host } from './vesselWorld';

const EVIL = 'models/evil';
let world: VesselWorld;
beforeEach(() => (world = new VesselWorld()));
afterEach(() => world.close());

/** A package of other bytes that calls itself by the digest of this one, with a source that serves it. */
async function forged(pack: Package): Promise<Package> {
  const file = join(world.home, 'forged');
  writeFileSync(file, randomBytes(pack.bytes));
  const own = await describePackage(file, { path: EVIL, version: 1, source: pack.source, pieceBytes: PIECE });
  const lie = { ...own, digest: pack.digest };
  return { ...lie, source: await world.sourceOf(lie, file) };
}

/** A host that reads the model of one team, and then the one that the other team publishes under its digest. */
async function deceived() {
  const { pack, data } = await world.published(6 * PIECE);
  const lie = await forged(pack);
  await world.store.apply(R, commitOf(1, { [FEED]: JSON.stringify(pack), [EVIL]: JSON.stringify(lie) }));
  const host = await world.host('h1');
  await host.proxy.ask(FEED);
  await world.whole(host, pack);
  await host.proxy.ask(EVIL);
  return { pack, data, lie, host };
}

const bytesAt = (host: Host, path: string): Buffer => readFileSync(host.vessel.status(path).file ?? '');

test('a package whose pieces are not what its digest says is never whole, and refused by name', async () => {
  const { lie, host } = await deceived();
  await eventually('it is refused', async () => {
    const { state, trouble = '' } = host.vessel.status(EVIL);
    return (
      state === 'none' && /^the value of models\/evil is not a valid package: its pieces make a file/.test(trouble)
    );
  });
  await eventually('no deploy counts the host as live on it', async () => {
    const [said] = await world.store.subscribers(R, EVIL);
    return said?.version === versionOf(JSON.stringify(lie)) && /its pieces make a file/.test(said.refused ?? '');
  });
});

test('the publisher of one path replaces no file of another, whatever digest they name', async () => {
  const { pack, data, host } = await deceived();
  await eventually('the lie was looked through', async () => host.vessel.status(EVIL).state === 'none');
  await world.whole(host, pack);
  expect(bytesAt(host, FEED).equals(data)).toBe(true);
  const again = await world.host('h2');
  await again.proxy.ask(FEED);
  await world.whole(again, pack);
});

test('other hosts get the pieces of their own package from a host that holds a lie of the same digest', async () => {
  const { pack, data } = await world.published(6 * PIECE);
  const lie = await forged(pack);
  await world.store.apply(R, commitOf(1, { [FEED]: JSON.stringify(pack), [EVIL]: JSON.stringify(lie) }));
  const both = await world.host('both');
  await both.proxy.ask(EVIL);
  await eventually(
    'it has pieces of the lie',
    async () => both.vessel.status(EVIL).have > 0 || both.vessel.status(EVIL).state === 'none',
  );
  await both.proxy.ask(FEED);
  await world.whole(both, pack);
  const late = await world.host('late');
  await late.proxy.ask(FEED);
  await world.whole(late, pack);
  expect(bytesAt(late, FEED).equals(data)).toBe(true);
  expect(world.notes.filter((note) => note.startsWith('late: '))).toEqual([]);
});

test('a file that was put in the place of a package while the proxy was down is not served: it is fetched anew', async () => {
  const { pack, data } = await world.published(6 * PIECE);
  await world.commit(pack);
  const first = await world.host('h1');
  await first.proxy.ask(FEED);
  await world.whole(first, pack);
  await first.close();
  writeFileSync(first.vessel.status(FEED).file ?? '', randomBytes(pack.bytes));
  world.aheadMs += 10_000;
  const again = await world.host('h1');
  await again.proxy.ask(FEED);
  await world.whole(again, pack);
  expect(bytesAt(again, FEED).equals(data)).toBe(true);
});

test('a package that an older version kept under its digest is taken over, also when the source is gone', async () => {
  const { pack, data, stop } = await world.published(6 * PIECE);
  await world.commit(pack);
  const first = await world.host('h1');
  await first.proxy.ask(FEED);
  await world.whole(first, pack);
  await first.close();
  stop();
  const file = first.vessel.status(FEED).file ?? '';
  renameSync(file, join(dirname(file), `${pack.digest}.data`));
  rmSync(file.replace('.data', '.json'));
  writeFileSync(join(dirname(file), `${pack.digest}.json`), JSON.stringify(pack));
  const again = await world.host('h1');
  await again.proxy.ask(FEED);
  await world.whole(again, pack);
  expect(bytesAt(again, FEED).equals(data)).toBe(true);
  expect(readdirSync(dirname(file)).filter((name) => name.startsWith(pack.digest))).toEqual([]);
});
