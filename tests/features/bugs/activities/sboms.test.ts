import type { Client } from '@temporalio/client';
import { lookForBugs } from '../../../../features/bugs/activities/lookForBugs';
import { searchSboms } from '../../../../features/bugs/activities/sboms';
import type { Artifact } from '../../../../domain/artifact';
import { reportOfAdvisory, type Bug } from '../../../../features/bugs/domain/bug';
import { BUG_LIMITS } from '../../../../domain/limits';
import { parseRegistry } from '../../../../settings/registry';
import type { Fetch } from '../../../../sdk/request';
import { newBug } from '../../../builders/bugs';
import { silentFetch } from '../../../builders/silentFetch';

const ADVISORY = {
  id: 'X-1',
  affected: [{ package: { ecosystem: 'npm', name: 'rpc' }, ranges: [], versions: ['1.0.0'] }],
};
const BUG = newBug(reportOfAdvisory(ADVISORY, 'it loses replies'));
const sbomOfRpc = (version: string): string =>
  JSON.stringify({ bomFormat: 'CycloneDX', components: [{ name: 'rpc', version, purl: `pkg:npm/rpc@${version}` }] });
const artifact = (sbom?: string): Artifact => ({
  ...{ name: 'executable', kind: 'executable', version: 'kv:3' },
  metadata: sbom === undefined ? {} : { sbom },
});

type Answer = () => Response | Promise<Response>;
const says = (text: string) => () => new Response(text);
const status = (code: number) => () => new Response('', { status: code });
/** Ends when its caller gives up, and not before. */
const silent = 'silent';

/** Stores by name, each with what it answers at each path; 404 everywhere else. */
function given(stores: Readonly<Record<string, Readonly<Record<string, Answer | typeof silent>>>>, bugs = [BUG]) {
  const asked: string[] = [];
  const extensions = Object.keys(stores).map((name) => ({
    ...{ name, kind: 'dependency-graph', type: 'sboms', url: `http://${name}/boms`, timeout: '50ms' },
  }));
  const registry = parseRegistry({ extensions }, {});
  const query = () => Promise.resolve({ bugs });
  const client = { workflow: { getHandle: () => ({ query }) } } as unknown as Client;
  const fetch: Fetch = async (request, init) => {
    const { hostname, pathname } = new URL(request.url);
    asked.push(`${hostname}${pathname}`);
    const answer = stores[hostname]?.[pathname.replace('/boms/', '')] ?? status(404);
    return answer === silent ? silentFetch(request, init) : answer();
  };
  return { asked, ports: { registry, client, fetch } };
}

const bugIn = async (...asked: Parameters<typeof lookForBugs>) => (await lookForBugs(...asked)).bug;

test('a search reports how many components have no usable package URL, whether or not there is a bug', async () => {
  const components = [
    { name: 'rpc', version: '1.0.0', purl: 'pkg:npm/rpc@1.0.0' },
    { type: 'container', name: 'base' },
    7,
  ];
  const sbom = (some: unknown[]) => says(JSON.stringify({ bomFormat: 'CycloneDX', components: some }));
  const { ports } = given({ boms: { 'bad.json': sbom(components), 'good.json': sbom(components.slice(1)) } });
  expect(await lookForBugs(ports, [artifact('bad.json')])).toMatchObject({
    bug: expect.anything() as string,
    namedOnly: 2,
  });
  expect(await lookForBugs(ports, [artifact('good.json')])).toEqual({ namedOnly: 2 });
});

test('an artifact whose SBOM has a package that an advisory affects is refused, and says over which chain', async () => {
  const { ports } = given({ boms: { 'kv/3.json': says(sbomOfRpc('1.0.0')) } });
  expect(await bugIn(ports, [artifact('kv/3.json')])).toBe(
    'executable@kv:3 contains bug/1 in X-1 (rpc 1.0.0): it loses replies; by rpc@1.0.0',
  );
});

test('one whose SBOM has a version that is not affected passes', async () => {
  const { ports } = given({ boms: { 'kv/3.json': says(sbomOfRpc('1.0.1')) } });
  expect(await bugIn(ports, [artifact('kv/3.json')])).toBeUndefined();
});

test('the first store that has an SBOM counts', async () => {
  const { ports, asked } = given({ one: {}, two: { 'kv/3.json': says(sbomOfRpc('1.0.0')) }, three: {} });
  expect(await bugIn(ports, [artifact('kv/3.json')])).toMatch(/^executable@kv:3 contains bug\/1/);
  expect(asked).toEqual(['one/boms/kv/3.json', 'two/boms/kv/3.json']);
});

const huge = new TextEncoder().encode(' '.repeat(1_048_576));
/** 200 MB, which are read only up to the limit. */
const larger: { sent: number; answer: Answer } = {
  sent: 0,
  answer: () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          larger.sent += huge.length;
          if (larger.sent > 200_000_000) controller.close();
          else controller.enqueue(huge);
        },
      }),
    ),
};

test.each<[string, string, Answer, RegExp]>([
  ['no JSON', 'kv/3.json', says('<xml/>'), /kv\/3.json cannot be read: it is not JSON/],
  ['not there', 'kv/3.json', status(404), /no store of SBOMs has it/],
  ['refused', 'kv/3.json', status(403), /boms answers 403/],
  ['elsewhere', 'kv/3.json', status(302), /boms answers 302/],
  ['200 MB', 'kv/3.json', larger.answer, /it is larger than 32768 kB/],
  ['outside the store', '../secret.json', status(200), /it has to be a path in a store of SBOMs/],
  ['a URL', 'http://elsewhere/3.json', status(200), /it has to be a path in a store of SBOMs/],
])('an SBOM that is %s is no clearance, and no other artifact waits for it', async (_, sbom, answer, why) => {
  const { ports } = given({ boms: { 'kv/3.json': answer, 'ok.json': says(sbomOfRpc('1.0.1')) } });
  await expect(bugIn(ports, [artifact(sbom)])).rejects.toMatchObject({
    ...{ code: 'sbom-unreadable', retryable: false, message: expect.stringMatching(why) },
  });
  expect(await bugIn(ports, [artifact('ok.json')])).toBeUndefined();
  const hits = await searchSboms(ports, [ADVISORY], [artifact(sbom), artifact('ok.json')]);
  expect([hits.chains.get(ADVISORY)?.size, [...hits.unreadable.keys()]]).toEqual([0, [sbom]]);
});

test('no more of an SBOM of 200 MB is read than the limit and a piece on its way', () => {
  expect(larger.sent).toBeLessThan(2 * (BUG_LIMITS.sbom.max + 4 * huge.length));
});

test.each<[string, Answer | typeof silent, RegExp]>([
  ['down', status(503), /boms did not answer GET kv\/3.json: it answers 503/],
  ['silent', silent, /no answer within 50 ms/],
])('while the store is %s the answer is unknown, and callers try again', async (_, answer, why) => {
  const { ports } = given({ boms: { 'kv/3.json': answer } });
  await expect(bugIn(ports, [artifact('kv/3.json')])).rejects.toMatchObject({
    ...{ code: 'extension-unavailable', retryable: true, message: expect.stringMatching(why) },
  });
});

test.each<[string, Parameters<typeof given>, Artifact]>([
  ['no store of SBOMs is configured', [{}], artifact('kv/3.json')],
  ['no advisory is in force', [{ boms: {} }, []], artifact('kv/3.json')],
  ['a bug is in a target', [{ boms: {} }, [{ ...BUG, advisory: undefined } as unknown as Bug]], artifact('kv/3.json')],
  ['the artifact names no SBOM', [{ boms: {} }], artifact()],
])('where %s no store is asked', async (_, world, one) => {
  const { ports, asked } = given(...world);
  expect(await bugIn(ports, [one])).toBeUndefined();
  expect(asked).toEqual([]);
});

test('artifacts that share an SBOM have it read once', async () => {
  const { ports, asked } = given({ boms: { 'kv/3.json': says(sbomOfRpc('1.0.0')) } });
  await searchSboms(ports, [ADVISORY], [artifact('kv/3.json'), artifact('kv/3.json')]);
  expect(asked).toHaveLength(1);
});

test('an SBOM is read once at a grant, however many advisories are in force', async () => {
  const others = Array.from({ length: 30 }, (_, nth) => {
    const report = reportOfAdvisory({ ...ADVISORY, id: `X-${nth + 2}` }, 'it loses replies');
    return { ...BUG, ...report, id: `bug/${nth + 2}` };
  });
  const { ports, asked } = given({ boms: { 'kv/3.json': says(sbomOfRpc('1.0.1')) } }, [BUG, ...others]);
  expect(await bugIn(ports, [artifact('kv/3.json')])).toBeUndefined();
  expect(asked).toHaveLength(1);
});

test('a worker reads four SBOMs at a time, each once for all advisories, when releases are granted together', async () => {
  let [under, most] = [0, 0];
  let reached = (): void => undefined;
  const four = new Promise<void>((resolve) => (reached = resolve));
  const slowly: Answer = async () => {
    most = Math.max(most, ++under);
    if (under === 4) reached();
    await four;
    await new Promise((resolve) => setTimeout(resolve, 2));
    under -= 1;
    return new Response(sbomOfRpc('1.0.1'));
  };
  const names = Array.from({ length: 12 }, (_, nth) => `kv/${nth}.json`);
  const boms = Object.fromEntries(names.map((name) => [name, slowly]));
  const { ports, asked } = given({ boms }, [BUG, { ...BUG, id: 'bug/2' }]);
  const grants = Array.from({ length: 5 }, async () => bugIn(ports, names.map(artifact)));
  expect(await Promise.all(grants)).toEqual(grants.map(() => undefined));
  expect([most, asked.length]).toEqual([4, 5 * names.length]);
});
