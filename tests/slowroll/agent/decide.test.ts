import fc from 'fast-check';
import {
  acceptManifest,
  beginInstall,
  computeWait,
  countBegin,
  endFailed,
  endInstall,
  endRestore,
  listKeptFolders,
  listReports,
  markRestore,
  nameFolder,
  planPackage,
  whyNotAccept,
} from '../../../push-types/slowroll/agent/decide';
import { AGENT_LIMITS } from '../../../push-types/slowroll/agent/limits';
import {
  emptyAgentState,
  getPackage,
  setPackage,
  type PackageState,
  type PackageRelease,
} from '../../../push-types/slowroll/agent/state';
import { reportPackageSchema, type Manifest, type ManifestPackage } from '../../../push-types/slowroll/protocol';

/** The decisions of an agent, without a disk or a network. */

const digest = (version: string): string =>
  `sha256:${Buffer.from(version).toString('hex').padEnd(64, '0').slice(0, 64)}`;
const pack = (version: string, generation: number, change: Partial<ManifestPackage> = {}): ManifestPackage => ({
  ...{ name: 'shop', version, uri: 'x', digest: digest(version), size: 1, generation, revert: false },
  ...change,
});
const manifest = (packages: readonly ManifestPackage[], change: Partial<Manifest> = {}): Manifest => ({
  ...{ host: 'web-1', serial: 7, packages: [...packages], pollAfterSeconds: 60 },
  ...change,
});
const release = (version: string, generation: number): PackageRelease => ({
  ...{ version, generation, digest: digest(version), folder: nameFolder(version, generation) },
});

const EMPTY: PackageState = { generation: 0, releases: [], superseded: [] };

/** The package after it was brought to each version in turn. */
const bring = (steps: readonly (readonly [version: string, generation: number, revert?: 'revert'])[]): PackageState =>
  steps.reduce((state, [version, generation, revert]) => {
    const target = release(version, generation);
    const begun = beginInstall(state, { target, before: state.runs?.folder ?? null, revert: revert !== undefined });
    return { ...endInstall(begun, begun.step!, `id-${generation}`), generation };
  }, EMPTY);

const stateWith = (shop: PackageState, serial = 7) => setPackage({ ...emptyAgentState('web-1'), serial }, 'shop', shop);

describe('a manifest', () => {
  test.each<[string, Manifest, string | undefined]>([
    ['of this host with the next serial is accepted', manifest([pack('3', 3)], { serial: 8 }), undefined],
    ['with the same serial is accepted', manifest([pack('2', 2)]), undefined],
    ['with a package that is new here is accepted', manifest([pack('1', 1, { name: 'other' })]), undefined],
    ['of another host is refused', manifest([], { host: 'web-2' }), 'for the host "web-2"'],
    ['with a lower serial is refused', manifest([], { serial: 6 }), 'the serial 6, and 7 was accepted before'],
    ['with a lower generation is refused', manifest([pack('3', 1)]), 'shop: the generation 1 is lower than 2'],
    ['with the version of before is refused', manifest([pack('1', 3)]), 'shop: the version 1 ran here before a newer'],
    ['with the version of before is accepted as a revert', manifest([pack('1', 3, { revert: true })]), undefined],
    [
      'with two packages of one version and generation is refused',
      manifest([pack('2', 2, { digest: digest('other') })]),
      'shop: the generation 2 names two packages of the version 2',
    ],
  ])('%s', (_, offered, reason) => {
    const shop = bring([
      ['1', 1],
      ['2', 2],
    ]);
    expect(whyNotAccept(stateWith(shop), offered)?.reason).toEqual(
      reason === undefined ? undefined : expect.stringContaining(reason),
    );
  });

  test('that was accepted makes every earlier one impossible, in any order of replays', () => {
    const numbers = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(numbers, (offers) => {
        let state = emptyAgentState('web-1');
        let [serial, generation] = [0, 0];
        for (const [nextSerial, nextGeneration] of offers) {
          const offered = manifest([pack(`v${nextGeneration}`, nextGeneration)], { serial: nextSerial });
          const isRefused = whyNotAccept(state, offered) !== undefined;
          expect(isRefused).toBe(nextSerial < serial || nextGeneration < generation);
          if (isRefused) continue;
          state = acceptManifest(state, offered);
          [serial, generation] = [nextSerial, nextGeneration];
          expect([state.serial, getPackage(state, 'shop').generation]).toEqual([serial, generation]);
        }
      }),
    );
  });
});

describe('a version', () => {
  test.each<[string, Parameters<typeof bring>[0], readonly string[]]>([
    [
      'is superseded by the next',
      [
        ['1', 1],
        ['2', 2],
        ['3', 3],
      ],
      ['1', '2'],
    ],
    [
      'that a revert brought back is not superseded',
      [
        ['1', 1],
        ['2', 2],
        ['1', 3, 'revert'],
      ],
      [],
    ],
    [
      'that a revert took away may return',
      [
        ['1', 1],
        ['2', 2],
        ['3', 3],
        ['1', 4, 'revert'],
      ],
      [],
    ],
    [
      'before the one that returned stays superseded',
      [
        ['1', 1],
        ['2', 2],
        ['3', 3],
        ['2', 4, 'revert'],
      ],
      ['1'],
    ],
    [
      'is superseded again by the next',
      [
        ['1', 1],
        ['2', 2],
        ['1', 3, 'revert'],
        ['3', 4],
      ],
      ['1'],
    ],
  ])('%s', (_, steps, superseded) => {
    expect(bring(steps).superseded).toEqual(superseded);
  });

  test('that failed does not supersede the one that runs, and is not tried again with the same generation', () => {
    const shop = bring([['1', 1]]);
    const begun = beginInstall(shop, { target: release('2', 2), before: '1-1', revert: false });
    const marked = markRestore(begun, begun.step!, 'it is sick');
    const after = endRestore(marked, marked.step!, { reason: 'it is sick', identifier: 'new' });
    expect(after).toMatchObject({ runs: { version: '1', identifier: 'new' }, superseded: [] });
    expect(after.step).toBeUndefined();
    expect(planPackage(after, pack('2', 2))).toEqual({ kind: 'keep' });
    expect(planPackage(after, pack('2', 3))).toMatchObject({ kind: 'install', isOnDisk: false });
    expect(planPackage(after, pack('3', 2))).toMatchObject({ kind: 'install' });
    expect(planPackage(after, pack('1', 3))).toEqual({ kind: 'keep' });
  });

  test('that runs is kept, whatever generation names it', () => {
    expect(planPackage(bring([['1', 1]]), pack('1', 9))).toEqual({ kind: 'keep' });
  });

  test('that is still on the disk is taken from there', () => {
    const shop = bring([
      ['1', 1],
      ['2', 2],
    ]);
    expect(planPackage(shop, pack('1', 3, { revert: true }))).toMatchObject({
      isOnDisk: true,
      target: { folder: '1-1' },
    });
    expect(planPackage(shop, pack('1', 3, { digest: digest('rebuilt') }))).toMatchObject({ isOnDisk: false });
  });

  test.each([
    ['kv:12', 'kv_12-3'],
    ['../../etc', '_._.._etc-3'],
    ['.hidden', '_hidden-3'],
    ['-rf', '_rf-3'],
    ['a/b\nc', 'a_b_c-3'],
    ['x'.repeat(256), `${'x'.repeat(120)}-3`],
  ])('%s has a folder that is one plain name', (version, folder) => {
    expect(nameFolder(version, 3)).toBe(folder);
    expect(folder).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._+@-]*$/);
  });
});

describe('the disk', () => {
  test('keeps the last three releases, the one that runs, and those of an open step', () => {
    const shop = bring([
      ['1', 1],
      ['2', 2],
      ['3', 3],
      ['4', 4],
    ]);
    expect([...listKeptFolders(shop, '4-4')].sort()).toEqual(['2-2', '3-3', '4-4']);
    const begun = beginInstall(shop, { target: release('5', 5), before: '4-4', revert: false });
    expect([...listKeptFolders(begun, '5-5')].sort()).toEqual(['2-2', '3-3', '4-4', '5-5']);
    expect([...listKeptFolders(EMPTY, 'unknown')]).toEqual(['unknown']);
  });
});

describe('a step', () => {
  test('that is interrupted again and again is given up, so that a version that crashes the machine does not stay', () => {
    const begun = beginInstall(bring([['1', 1]]), { target: release('2', 2), before: '1-1', revert: false });
    let shop = begun;
    for (let n = 0; n < AGENT_LIMITS.begins; n += 1) shop = countBegin(shop, shop.step!);
    expect(shop.step).toMatchObject({ kind: 'install', begins: AGENT_LIMITS.begins });
    shop = countBegin(shop, shop.step!);
    expect(shop.step).toMatchObject({ kind: 'restore', reason: 'the installation was interrupted 5 times' });
    for (let n = 0; n < 20; n += 1) shop = countBegin(shop, shop.step!);
    expect(shop.step?.kind).toBe('restore');
  });
});

describe('a report', () => {
  const reports = (shop: PackageState) => listReports(stateWith(shop), new Map());

  test('names the version that runs, and the one that failed', () => {
    const shop = bring([['1', 1]]);
    expect(reports(shop)).toEqual([{ name: 'shop', version: '1', identifier: 'id-1', state: 'installed' }]);
    expect(reports(endFailed(shop, release('2', 2), 'x'.repeat(5000)))).toEqual([
      {
        ...{ name: 'shop', version: '1', identifier: 'id-1', state: 'failed', failedVersion: '2' },
        reason: 'x'.repeat(AGENT_LIMITS.reasonCharacters),
      },
    ]);
    expect(reports(EMPTY)).toEqual([]);
  });

  const TROUBLE = { cause: 'disk-full', version: '2', reason: 'no space' } as const;

  test('names trouble that passes beside what runs, also for a package that never ran', () => {
    const runs = { name: 'shop', version: '1', identifier: 'id-1', state: 'installed' };
    const shop = bring([['1', 1]]);
    const troubles = new Map([['shop', TROUBLE]]);
    expect(listReports(stateWith(shop), troubles)).toEqual([{ ...runs, trouble: TROUBLE }]);
    // An earlier failure ended before this attempt began.
    expect(listReports(stateWith(endFailed(shop, release('2', 2), 'bad')), troubles)).toEqual([
      { ...runs, trouble: TROUBLE },
    ]);
    expect(listReports(emptyAgentState('web-1'), new Map([['new', TROUBLE]]))).toEqual([
      { name: 'new', version: 'none', identifier: 'none', state: 'removed', trouble: TROUBLE },
    ]);
  });

  test('calls a refusal a failure', () => {
    const refusal = { cause: 'refused', version: '1', reason: 'another digest' } as const;
    expect(listReports(emptyAgentState('web-1'), new Map([['new', refusal]]))).toEqual([
      {
        ...{ name: 'new', version: 'none', identifier: 'none', state: 'failed', failedVersion: '1' },
        reason: 'another digest',
      },
    ]);
  });

  test('with trouble reads as what runs by a server that does not know trouble', () => {
    const [report] = listReports(stateWith(bring([['1', 1]])), new Map([['shop', TROUBLE]]));
    const known = reportPackageSchema.omit({ trouble: true });
    expect(known.parse(report)).toEqual({ name: 'shop', version: '1', identifier: 'id-1', state: 'installed' });
  });

  test('with a cause that a server does not know counts as other trouble there', () => {
    const [report] = listReports(stateWith(bring([['1', 1]])), new Map([['shop', TROUBLE]]));
    const strange = { ...report, trouble: { ...TROUBLE, cause: 'flood' } };
    expect(reportPackageSchema.parse(strange).trouble?.cause).toBe('other');
  });
});

describe('the next poll', () => {
  const pace = { failures: 0, pollAfterSeconds: 100, chance: 0.5 };
  test.each<[string, Partial<Parameters<typeof computeWait>[0]>, number]>([
    ['comes after the interval of the manifest', {}, 100_000],
    ['comes up to a tenth sooner', { chance: 0 }, 90_000],
    ['comes up to a tenth later', { chance: 1 }, 110_000],
    ['comes soon after a failure', { failures: 1, chance: 0 }, 1_000],
    ['comes later after each further failure', { failures: 4, chance: 0 }, 8_000],
    ['comes within five minutes after days without a server', { failures: 5_000, chance: 1 }, 300_000],
    ['comes within the interval if that is longer', { failures: 5_000, chance: 1, pollAfterSeconds: 1800 }, 1_800_000],
    ['comes no sooner than Retry-After', { failures: 1, chance: 0, retryAfter: 40 }, 41_000],
    ['comes within a day, whatever Retry-After names', { failures: 1, chance: 0, retryAfter: 1e9 }, 86_401_000],
  ])('%s', (_, change, wait) => expect(computeWait({ ...pace, ...change })).toBe(wait));
});
