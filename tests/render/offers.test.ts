import type { View } from '../../render/paint';
import { renderPipeline } from '../../render/pipeline';
import { renderRelease } from '../../render/release';
import type { OfferView, WishView } from '../../domain/views';
import { action, NOW, pipeline, release } from '../builders/cliSamples';

const view: View = { width: 140, color: false, now: NOW, timeZone: 'UTC' };
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString();
const offer: OfferView = {
  ...{ name: 'vpc', version: '2.0.0', state: 'made', seq: 2, since: at(300), release: 7 },
  users: [
    { user: 'auth/deploy', behind: true },
    { user: 'shop/deploy', behind: false },
  ],
};

test('the status of a pipeline lists its offers, their state and their users', () => {
  const gone: OfferView = { ...offer, name: 'dns', version: null, state: 'withdrawing' };
  const unmade: OfferView = {
    ...offer,
    name: 'logs',
    state: 'unmade',
    seq: null,
    since: null,
    release: null,
    users: [],
  };
  const text = renderPipeline(pipeline({ offers: [offer, gone, unmade] }), view);
  expect(text).toMatch(/vpc 2\.0\.0 +✔ made 5m( 0s)? ago +used by auth\/deploy \(an earlier value\), shop\/deploy/);
  expect(text).toMatch(/dns +⚠ being withdrawn +used by/);
  expect(text).toMatch(/logs 2\.0\.0 +not made yet/);
  expect(renderPipeline(pipeline({ offers: [{ ...offer, state: 'changing' }] }), view)).toMatch(
    /vpc 2\.0\.0 +◌ being changed/,
  );
  expect(renderPipeline(pipeline(), view)).not.toContain('Offers');
});

test('a broken offer shows which users are at risk, why, and the ways out', () => {
  const users = [
    { user: 'web/deploy', behind: true },
    { user: 'auth/deploy', behind: true, risk: 'wishes for ^2' },
  ];
  const broken: OfferView = { ...offer, version: '1.0.0', state: 'broken', users };
  const text = renderPipeline(pipeline({ id: 'network', offers: [broken] }), view);
  expect(text).toMatch(
    /vpc 1\.0\.0 +✖ broken +used by auth\/deploy \(at risk: wishes for \^2\), web\/deploy \(an earlier value\)/,
  );
  expect(text.replace(/\s+/g, ' ')).toContain(
    'release network with offers that fit them, or change their wishes and release them. ' +
      'If a deploy is gone: conveyor end-use network auth/deploy --reason "…"',
  );
  const unused: OfferView = { ...offer, state: 'unmade', notMadeBy: 8, users: [] };
  const quiet = renderPipeline(pipeline({ offers: [offer, unused] }), view);
  expect(quiet).toMatch(/vpc 2\.0\.0 +not made by release 8/);
  expect(quiet).not.toContain('end-use');
});

test('a pipeline and a release whose deploys use a broken offer say so, and the pipeline of the offer is next', () => {
  const why = 'vpc 1.0.0 of network does not fit auth/deploy, which wishes for ^2';
  const brokenUses = [{ action: 'deploy', release: 3, from: 'network', offer: 'vpc', why }];
  const text = renderPipeline(pipeline({ brokenUses }), view);
  expect(text).toContain(`At risk\n  ${why}\n`);
  expect(text).toContain('conveyor status network');
  expect(renderPipeline(pipeline(), view)).not.toContain('At risk');
  expect(renderRelease(release({ brokenUses }), [], view)).toMatch(new RegExp(`At risk: +${why.replace('^', '\\^')}`));
});

test('a list of many users is cut, and says so', () => {
  const users = Array.from({ length: 14 }, (_, n) => ({ user: `p${n}/deploy`, behind: false }));
  expect(renderPipeline(pipeline({ offers: [{ ...offer, users }] }), { ...view, width: 400 })).toContain(
    'p9/deploy and 4 more',
  );
});

const wish: WishView = { from: 'network', offer: 'vpc', range: '^2', state: 'waiting', version: null, seq: null };

test('a deploy that waits for an offer has a line of its own, and the pipeline to look at is next', () => {
  const why = 'waiting for other pipelines: network has not offered vpc yet';
  const waiting = action({
    name: 'deploy',
    type: 'deploy',
    state: 'blocked',
    blockedBy: why,
    endedAt: null,
    wishes: [wish],
  });
  const text = renderRelease(release({ actions: [waiting] }), [], { ...view, width: 70 });
  expect(text.replace(/\s+/g, ' ')).toContain(`Waits: deploy: ${why}`);
  expect(text).toContain('conveyor status network');
});

test('a deploy shows the offers that it uses', () => {
  const uses = [{ ...wish, state: 'satisfied' as const, version: '2.1.0', seq: 4 }];
  const text = renderRelease(
    release({ actions: [action({ name: 'deploy', type: 'deploy', wishes: uses })] }),
    [],
    view,
  );
  expect(text).toMatch(/Uses: +deploy: vpc 2\.1\.0 of network/);
  expect(text).not.toContain('conveyor status network');
});
