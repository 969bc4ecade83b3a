import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConveyorClient } from '../../client/api';
import { conveyorError } from '../../domain/errors';
import type { OfferList, OfferSummary, PipelineOffers } from '../../domain/views';
import { NOW, pipeline } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';
import { specOf } from '../builders/pipelineWorld';

const folder = mkdtempSync(join(tmpdir(), 'conveyor-offers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const since = new Date(NOW - 300_000).toISOString();

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const yaml = (name: string, more: string): string => `pipeline: ${name}
owners: [user:alice]
artifacts: { executable: { finder: manual } }
actions:
  deploy: { type: deploy, inputs: [executable], with: { pushType: twine, config: { id: "${more.includes('wishes') ? '${wishes.network.vpc.id}' : 'x'}" } } }
${more}
`;
const network = (version: string): string =>
  yaml(
    'network',
    `offers: [{ name: vpc, version: "${version}", value: { id: "\${executable.version}" }, to: ["shop*"] }]`,
  );
const shop = (range = '^2'): string => yaml('shop', `wishes: [{ from: network, offer: vpc, version: "${range}" }]`);
const EXCERPT = {
  pipeline: 'network',
  offers: [{ name: 'vpc', version: '2.3.0', to: ['shop*'], parts: ['id'] }],
};

describe('conveyor offers list', () => {
  const row: OfferSummary = {
    ...{ id: 'network/vpc', kind: 'offer', pipeline: 'network', name: 'vpc', version: '2.3.0', state: 'made' },
    ...{ since, release: 7, to: ['shop*'], users: 3 },
  };
  const listed = (list: Partial<OfferList>, ...argv: readonly string[]) => {
    const queries: object[] = [];
    const listOffers: ConveyorClient['listOffers'] = (query) => {
      queries.push(query);
      return Promise.resolve({ offers: [row], more: 0, unread: [], unasked: 0, ...list });
    };
    return run(['offers', 'list', ...argv], { client: { listOffers } }).then((ran) => ({ ...ran, queries }));
  };

  test('has a row for each offer', async () => {
    const { code, out, queries } = await listed({
      offers: [row, { ...row, id: 'network/dns', version: null, state: 'withdrawing', users: 0 }],
    });
    expect(code).toBe(0);
    expect(out).toMatch(/^OFFER +VERSION +STATE +USERS +SINCE\n/);
    expect(out).toMatch(/^network\/vpc +2\.3\.0 +✔ made +3 +5m/m);
    expect(out).toMatch(/^network\/dns +– +⚠ being withdrawn +0 +5m/m);
    const broken = await listed({ offers: [{ ...row, state: 'broken', atRisk: 2 }] });
    expect(broken.out).toMatch(/^network\/vpc +2\.3\.0 +✖ broken +3 \(2 at risk\) +5m/m);
    expect(queries).toEqual([{ limit: 50 }]);
    expect((await listed({}, '-o', 'wide')).out).toMatch(/network\/7 +shop\*$/m);
    expect((await listed({}, '-o', 'name')).out).toBe('network/vpc\n');
  });

  test('says how many there are more, which pipelines did not answer and why, and how many were not asked', async () => {
    const problem = 'its offers did not answer in time';
    const part = { more: 2, unread: ['auth', 'web'].map((id) => ({ id, problem })), unasked: 4 };
    const { out } = await listed(part);
    expect(out).toContain('\n2 offers more: --limit 3\n');
    expect(out).toContain(`\n⚠ auth, web: ${problem}\n`);
    expect(out).toContain('\n⚠ 4 pipelines with offers were not asked\n');
    expect(JSON.parse((await listed(part, '-o', 'json')).out)).toMatchObject(part);
    const none = (await listed({ ...part, offers: [], more: 0 })).out;
    expect(none).toContain('no offers of the pipelines that answered');
    expect((await listed({ offers: [] })).out).toBe('no offers; a pipeline file declares them under offers:\n');
  });

  test('asks for the offers that a pipeline may use, and refuses what is not the name of one', async () => {
    expect((await listed({}, '--to', 'shop', '-n', '7')).queries).toEqual([{ to: 'shop', limit: 7 }]);
    expect(await listed({}, '--to', 'shop/1')).toMatchObject({
      code: 2,
      err: expect.stringContaining('error: invalid-id: shop/1 is not the name of a pipeline'),
    });
  });
});

describe('conveyor offers show', () => {
  const shown: PipelineOffers = {
    ...{ id: 'network', kind: 'offers' },
    offers: [
      {
        ...{ name: 'vpc', version: '2.3.0', state: 'changing', seq: 4, since, release: 7, action: 'deploy' },
        ...{ value: { id: 'vpc-7' }, to: ['shop*', 'auth'] },
        users: [
          {
            ...{ user: 'auth/deploy', behind: true },
            pins: [
              { release: 2, seq: 3, range: '^2', parts: ['id', 'net.size'], behind: true },
              { release: 3, seq: 4, range: null, parts: [''], behind: false },
            ],
          },
        ],
      },
      {
        ...{ name: 'dns', version: null, state: 'unmade', seq: null, since: null, release: null, action: null },
        ...{ value: null, to: ['*'], users: [] },
      },
    ],
    changes: [{ release: 8, action: 'deploy', offers: ['vpc', 'dns'] }],
  };
  const client = { offers: () => Promise.resolve(shown) };

  test('has value, origin and receivers of each offer, the wish of each release that uses it, and changes under way', async () => {
    const { code, out } = await run(['offers', 'show', 'network'], { client });
    expect(code).toBe(0);
    expect(out).toMatch(/^Offer: +vpc 2\.3\.0\nState: +◌ being changed, by network\/7\/deploy\nFor: +shop\*, auth\n/);
    expect(out).toContain('Value:\n  id  "vpc-7"\n');
    expect(out).toMatch(/^auth\/deploy +2 +\^2 +id, net\.size +⚠ an earlier value\n +3 +any +the whole value$/m);
    expect(out).toMatch(/^Offer: +dns\nState: +not made yet\nFor: +all pipelines\n\n/m);
    expect(out).toContain('Changes under way\n  network/8/deploy changes vpc and dns\n');
  });

  test('names the users at risk, why, and the ways out', async () => {
    const users = shown.offers[0]!.users.map((user) => ({ ...user, risk: 'wishes for ^2' }));
    const offers = [{ ...shown.offers[0]!, version: '1.0.0', state: 'broken' as const, users }];
    const broken = { offers: () => Promise.resolve({ ...shown, offers }) };
    const { out } = await run(['offers', 'show', 'network'], { client: broken });
    expect(out).toMatch(/^State: +✖ broken, by network\/7\/deploy$/m);
    expect(out).toMatch(/^auth\/deploy +2 +.*⚠ an earlier value\n +3 +.*⚠ at risk: wishes for \^2$/m);
    expect(out).toContain('conveyor end-use network auth/deploy --reason "…"');
    expect((await run(['offers', 'show', 'network'], { client })).out).not.toContain('end-use');
  });

  test('is for programs as the server answers it', async () => {
    expect(JSON.parse((await run(['offers', 'show', 'network', '-o', 'json'], { client })).out)).toEqual(shown);
    expect((await run(['offers', 'show', 'network', '-o', 'name'], { client })).out).toBe('network/vpc\nnetwork/dns\n');
  });

  test('says that a pipeline has none, and which pipeline was meant if there is no such one', async () => {
    const none = { offers: () => Promise.resolve({ ...shown, offers: [], changes: [] }) };
    expect((await run(['offers', 'show', 'network'], { client: none })).out).toBe('network has no offers\n');
    const unknown = () => Promise.reject(conveyorError('unknown-pipeline', { pipeline: 'netwrk' }));
    const listPipelines = () => Promise.resolve([pipeline({ id: 'network' })]);
    expect(await run(['offers', 'show', 'netwrk'], { client: { offers: unknown, listPipelines } })).toMatchObject({
      code: 4,
      err: expect.stringMatching(/^error: unknown-pipeline: .*\nhint: did you mean network\?/),
    });
  });
});

describe('conveyor offers export', () => {
  const source = file('network.yaml', network('2.3.0'));

  test('prints the excerpt of a file without a server', async () => {
    const { code, out, connections } = await run(['offers', 'export', source]);
    expect([code, connections]).toEqual([0, []]);
    expect(JSON.parse(out)).toEqual(EXCERPT);
  });

  test('prints the excerpt of a pipeline as it was applied, and a list for several', async () => {
    const spec = () => Promise.resolve(specOf(['deploy'], { pipeline: 'dns', offers: [{ name: 'zone' }] }));
    const client = { spec, status: () => Promise.resolve(pipeline({ id: 'dns' })) };
    const dns = { pipeline: 'dns', offers: [{ name: 'zone', version: null, to: ['*'], parts: [] }] };
    expect(JSON.parse((await run(['offers', 'export', 'dns'], { client })).out)).toEqual(dns);
    expect(JSON.parse((await run(['offers', 'export', source, 'dns'], { client })).out)).toEqual([EXCERPT, dns]);
    const by = { actor: 'user:alice', at: since, reason: 'moved' };
    const status = () => Promise.resolve(pipeline({ id: 'dns', retired: by }));
    expect(await run(['offers', 'export', 'dns'], { client: { spec, status } })).toMatchObject({ code: 2, out: '' });
  });

  test('writes a file that check reads', async () => {
    const kept = join(folder, 'written', 'network.json');
    mkdirSync(join(folder, 'written'));
    expect(await run(['offers', 'export', source, '-o', kept])).toMatchObject({ code: 0, out: '' });
    expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual(EXCERPT);
    const checked = ['offers', 'check', file('shop.yaml', shop()), '--excerpts', join(folder, 'written')];
    expect((await run(checked)).code).toBe(0);
  });

  test('refuses a file without offers, and one with mistakes', async () => {
    const plain = file('plain.yaml', yaml('plain', ''));
    expect(await run(['offers', 'export', plain])).toMatchObject({
      ...{ code: 2, out: '' },
      err: `error: usage: ${plain} has no offers\nhint: conveyor lint ${plain} checks what it says\n`,
    });
    expect(await run(['offers', 'export', file('bad.yaml', network('2'))])).toMatchObject({ code: 2, out: '' });
    expect(await run(['offers', 'export', join(folder, 'none.yaml')])).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no such file'),
    });
  });
});

describe('conveyor offers check', () => {
  const wishing = file('wishing/shop.yaml', shop());
  const offered = (version: string) => file(`offering/${version}.yaml`, network(version));
  const excerpts = (name: string, value: unknown): string => join(file(`${name}/e.json`, JSON.stringify(value)), '..');
  const check = (...argv: readonly string[]) => run(['offers', 'check', ...argv]);

  test('passes a wish that an excerpt fits, and needs no server', async () => {
    const { code, out, connections } = await check(wishing, '--excerpts', excerpts('good', [EXCERPT]));
    expect([code, connections]).toEqual([0, []]);
    expect(out).toMatch(/^✔ shop +vpc \^2 of network +fits\n\n1 wish: 1 fits, 0 do not fit, 0 undecidable\n$/);
  });

  test('ends with 3 for a wish that the file of the offering pipeline would break, unless it is allowed', async () => {
    const files = [wishing, offered('3.0.0'), '--excerpts', excerpts('old', EXCERPT)];
    const broken = await check(...files);
    expect(broken.code).toBe(3);
    expect(broken.out).toMatch(/^✖ shop .* does-not-fit +network offers vpc 3\.0\.0, but the wish is for \^2$/m);
    expect((await check(...files, '-o', 'name')).out).toBe('network/vpc\n');
    const allowed = await check(...files, '--allow', 'network/vpc', '--allow', 'network/dns');
    expect(allowed).toMatchObject({ code: 0, err: 'note: --allow network/dns is not needed: no wish for it fails\n' });
    expect(allowed.out).toContain('does-not-fit (allowed)');
    expect(JSON.parse((await check(...files, '-o', 'json')).out)).toEqual({
      wishes: [
        {
          ...{ pipeline: 'shop', from: 'network', offer: 'vpc', range: '^2', parts: ['id'] },
          ...{ verdict: 'does-not-fit', why: 'network offers vpc 3.0.0, but the wish is for ^2', allowed: false },
        },
      ],
    });
  });

  test('does not fail for a wish that it cannot judge, and says which excerpt it lacks', async () => {
    const { code, out } = await check(wishing);
    expect(code).toBe(0);
    expect(out).toMatch(/^· shop .* undecidable +there is no excerpt of network$/m);
    expect(await check(offered('2.0.0'))).toMatchObject({ code: 0, out: 'no wishes\n' });
  });

  test.each([
    [
      'a field that is wrong',
      [{ ...EXCERPT, offers: [{ ...EXCERPT.offers[0], parts: 'id' }] }],
      /0\.offers\.0\.parts: /,
    ],
    ['a field that is missing', { pipeline: 'network' }, /: offers: /],
    ['a pipeline twice', [EXCERPT, EXCERPT], /: network is also in .*e\.json$/],
  ])('refuses excerpts with %s, with the place', async (title, value, where) => {
    const dir = excerpts(title.replaceAll(' ', '-'), value);
    const { code, err } = await check(wishing, '--excerpts', dir);
    const [message = '', hint] = err.split('\n');
    expect([code, message]).toEqual([2, expect.stringContaining(`excerpt-invalid: ${dir}/e.json is not an excerpt`)]);
    expect(message).toMatch(where);
    expect(hint).toContain(`conveyor offers export PIPELINE -o ${dir}/e.json`);
  });

  test('refuses excerpts that are not JSON, and folders without any', async () => {
    const broken = join(file('broken/e.json', '{ "pipeline": ['), '..');
    expect((await check(wishing, '--excerpts', broken)).err).toMatch(/excerpt-invalid: .* at line 1, column \d+/);
    mkdirSync(join(folder, 'empty'));
    expect(await check(wishing, '--excerpts', join(folder, 'empty'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('has no excerpts (*.json)'),
    });
    const none = await check(wishing, '--excerpts', join(folder, 'nowhere'));
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('there is no such folder')]);
  });

  test('refuses two files of one pipeline, and an offer to allow that is none', async () => {
    const twice = await check(wishing, file('wishing/again.yaml', shop('^1')));
    expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('are both the pipeline shop')]);
    const allow = await check(wishing, '--allow', 'vpc');
    expect([allow.code, allow.err]).toEqual([2, expect.stringContaining('--allow vpc is not an offer')]);
  });
});
