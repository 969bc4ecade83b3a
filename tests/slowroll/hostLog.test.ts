import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FleetHosts } from '../../push-types/slowroll/server/fleetHosts';
import { HostLog } from '../../push-types/slowroll/server/hostLog';
import { SLOWROLL_LIMITS } from '../../sdk';

/** The file with the hosts that have joined. */

const folder = mkdtempSync(join(tmpdir(), 'conveyor-hosts-'));
afterAll(() => rmSync(folder, { recursive: true }));

let nth = 0;
/** A folder of its own for each test. */
function makePlace(): string {
  const place = join(folder, `${(nth += 1)}`);
  mkdirSync(place);
  return place;
}

const STEPS = ['write', 'synchronize', 'rename', 'synchronize the folder', 'close'];

const createHosts = (): FleetHosts =>
  new FleetHosts({
    regionLabel: 'region',
    regions: ['eu', 'us'],
    packages: [{ name: 'kv', hosts: {} }],
    mostHosts: 1000,
  });

/** The hosts with their labels, in their order, as a process that begins now reads them. */
async function readHosts(place: string): Promise<readonly string[]> {
  const hosts = createHosts();
  await (await HostLog.open(join(place, 'hosts.log'), hosts)).close();
  return listHosts(hosts);
}

const listHosts = (hosts: FleetHosts): readonly string[] =>
  Array.from(
    { length: hosts.table.count },
    (_, index) => `${hosts.table.nameHost(index)} ${hosts.readLabels(index)['region']}`,
  );

const countLines = (place: string): number =>
  readFileSync(join(place, 'hosts.log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '').length;

type Options = Parameters<typeof HostLog.open>[2];

/** Three hosts that move from region to region, so many times. */
async function moveHosts(place: string, times: number, options: Options): Promise<FleetHosts> {
  const hosts = createHosts();
  const log = await HostLog.open(join(place, 'hosts.log'), hosts, options);
  for (let time = 0; time < times; time += 1)
    for (const host of ['web-2', 'web-1', 'web-3']) {
      const labels = { region: (time + host.length) % 2 === 0 ? 'eu' : 'us' };
      if (hosts.join(host, labels).isNew) await log.note(host, labels);
    }
  await log.close();
  return hosts;
}

describe('the file of hosts', () => {
  test('keeps outdated lines up to the limit, and has one line a host beyond it', async () => {
    const [within, beyond] = [makePlace(), makePlace()];
    await moveHosts(within, 5, { mostOutdated: 12 });
    expect(countLines(within)).toBe(15);
    const hosts = await moveHosts(beyond, 5, { mostOutdated: 11 });
    expect(countLines(beyond)).toBe(3);
    expect(await readHosts(beyond)).toEqual(listHosts(hosts));
    expect(readdirSync(beyond)).toEqual(['hosts.log']);
  });

  test('has all hosts in their order if the process is killed before any step of writing it anew', async () => {
    const [place, killed] = [makePlace(), makePlace()];
    const found = new Map<string, readonly string[]>();
    const wanted = new Map<string, readonly string[]>();
    const seen: string[] = [];
    const hosts = createHosts();
    const onStep = (step: string): void => {
      seen.push(step);
      // The folder as a kill would leave it now.
      cpSync(place, join(killed, step), { recursive: true });
      wanted.set(step, listHosts(hosts));
    };
    const log = await HostLog.open(join(place, 'hosts.log'), hosts, { mostOutdated: 2, onStep });
    for (const [host, region] of ['b eu', 'a us', 'b us', 'b eu', 'a eu'].map((line) => line.split(' '))) {
      hosts.join(host ?? '', { region: region ?? '' });
      await log.note(host ?? '', { region: region ?? '' });
    }
    await log.close();
    expect(seen).toEqual(STEPS);
    for (const step of seen) found.set(step, await readHosts(join(killed, step)));
    expect(found).toEqual(wanted);
    for (const step of seen) expect(readdirSync(join(killed, step))).toEqual(['hosts.log']);
  });

  test('is open once, although the folder could not be flushed after it was written anew', async () => {
    const place = makePlace();
    const isOpenHere = (fd: string): boolean => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(place);
      } catch {
        return false;
      }
    };
    const counts: number[] = [];
    const onStep = (step: string): void => {
      if (step === 'write') counts.push(readdirSync('/proc/self/fd').filter(isOpenHere).length);
      if (step === 'synchronize the folder') throw new Error('EIO');
    };
    const hosts = await moveHosts(place, 9, { mostOutdated: 2, onStep });
    expect(counts.length).toBeGreaterThan(2);
    expect(new Set(counts)).toEqual(new Set([2]));
    expect(await readHosts(place)).toEqual(listHosts(hosts));
  });

  test('takes lines after it was written anew, and loses none of them', async () => {
    const place = makePlace();
    const hosts = createHosts();
    const log = await HostLog.open(join(place, 'hosts.log'), hosts, { mostOutdated: 0 });
    const names = Array.from({ length: 50 }, (_, index) => `host-${index}`);
    await Promise.all(
      names.flatMap((name) =>
        ['eu', 'us'].map((region) => {
          hosts.join(name, { region });
          return log.note(name, { region });
        }),
      ),
    );
    hosts.join('last', { region: 'eu' });
    await log.note('last', { region: 'eu' });
    await log.close();
    expect(await readHosts(place)).toEqual([...names.map((name) => `${name} us`), 'last eu']);
  });

  test('is written anew at the start of a process, if it is too long then', async () => {
    const place = makePlace();
    const line = 'web-1\t{"region":"eu"}\n';
    writeFileSync(join(place, 'hosts.log'), line.repeat(SLOWROLL_LIMITS.outdatedHosts.max + 1));
    expect(await readHosts(place)).toEqual(['web-1 eu']);
    expect(countLines(place)).toBe(SLOWROLL_LIMITS.outdatedHosts.max + 1);
    appendFileSync(join(place, 'hosts.log'), line);
    expect(await readHosts(place)).toEqual(['web-1 eu']);
    expect(countLines(place)).toBe(1);
  });

  test('stays as it is on a disk that has no room for a second one, and takes further lines', async () => {
    const place = makePlace();
    const lines: string[] = [];
    const onStep = (step: string): void => {
      if (step === 'synchronize') throw new Error('no space left on device');
    };
    const hosts = await moveHosts(place, 5, { mostOutdated: 2, onStep, log: (text) => void lines.push(text) });
    expect(countLines(place)).toBe(15);
    expect(await readHosts(place)).toEqual(listHosts(hosts));
    // It is tried again only after as many lines once more.
    expect(lines).toHaveLength(4);
    expect(lines[0]).toContain('hosts.log has 3 outdated lines, and cannot be written anew: Error: no space left');
  });
});
