import { OFFER_LIMITS } from '../../../domain/limits';
import {
  beginChange,
  declareOffers,
  makeOffers,
  NO_OFFERS,
  pinOffers,
  type OfferBoard,
} from '../../../domain/offers/board';
import {
  listWithdrawals,
  noteWithdrawn,
  packNotified,
  planNotices,
  unpackNotified,
} from '../../../domain/offers/withdrawals';

const made = (name: string) => ({ name, value: {}, to: ['*'] });
const offered = makeOffers(
  NO_OFFERS,
  { release: 1, action: 'deploy', made: [made('vpc'), made('dns')], declared: ['vpc', 'dns'] },
  '2026-11-23T17:00:00.000Z',
);
const use = (offer: string, more: object = { undeploys: true }) => ({
  ...{ offer, seq: offer === 'vpc' ? 1 : 2, paths: [] },
  ...more,
});
const pinned = (user: string, uses = [use('vpc')], board: OfferBoard = offered) =>
  pinOffers(board, { user, release: 3, uses });
const change = { release: 2, action: 'deploy', offers: ['vpc'], rev: 1 };
const ofAuth = { user: 'auth/deploy', offer: 'vpc' };
const withUsers = (count: number): OfferBoard => ({
  ...offered,
  users: Array.from({ length: count }, (_, n) => ({
    user: `team-${n}/deploy`,
    pins: [{ release: 1, uses: [use('vpc')] }],
  })),
});

test('a pipeline whose wish says so follows an offer that is withdrawn or removed, not one that is changed', () => {
  const used = pinned('auth/deploy');
  expect(listWithdrawals(declareOffers(used, ['dns']))).toEqual([ofAuth]);
  expect(listWithdrawals(beginChange(used, { ...change, removes: true }))).toEqual([ofAuth]);
  expect(listWithdrawals(beginChange(used, change))).toEqual([]);
  expect(listWithdrawals(declareOffers(pinned('auth/deploy', [use('vpc', {})]), []))).toEqual([]);
});

test('a pipeline follows each of its offers that is withdrawn, also if another one is withdrawn while its notice is on its way', () => {
  const both = pinned('auth/deploy', [use('vpc'), use('dns')]);
  const dns = { user: 'auth/deploy', offer: 'dns' };
  expect(listWithdrawals(declareOffers(both, ['vpc']))).toEqual([dns]);
  expect(listWithdrawals(declareOffers(both, []))).toEqual([ofAuth, dns]);
});

test('a pipeline is notified once, and again only if the offer was there in between', () => {
  const first = planNotices(new Set(), [ofAuth], 100);
  expect(first.notices).toEqual([ofAuth]);
  const again = planNotices(first.told, [ofAuth], 100);
  expect(again.notices).toEqual([]);
  expect(planNotices(planNotices(again.told, [], 100).told, [ofAuth], 100).notices).toEqual([ofAuth]);
});

test('at most so many notices are on their way at once, and the others follow', () => {
  const { max } = OFFER_LIMITS.noticesAtOnce;
  const all = listWithdrawals(declareOffers(withUsers(max + 1), []));
  const first = planNotices(new Set(), all, max);
  expect(first.notices).toEqual(all.slice(0, max));
  expect(planNotices(first.told, all, 0)).toEqual({ told: first.told, notices: [] });
  expect(planNotices(first.told, all, max).notices).toEqual(all.slice(max));
});

test('the next history knows who was notified, in little room', () => {
  const board = withUsers(OFFER_LIMITS.users.max);
  const { told } = planNotices(new Set(), listWithdrawals(declareOffers(board, [])), OFFER_LIMITS.users.max);
  const packed = packNotified(board, told);
  expect(unpackNotified(board, packed)).toEqual(told);
  expect(JSON.stringify(packed).length).toBeLessThan(64 * 1024);
});

describe('a file that withdraws offers', () => {
  const useBy = (user: string, more: object = {}) => ({
    ...{ user, release: 1, uses: [{ offer: 'vpc', seq: 1, paths: [], ...more }] },
  });
  const used = [
    useBy('shop/deploy', { undeploys: true }),
    useBy('shop/web', { undeploys: true }),
    useBy('auth/deploy'),
  ].reduce(pinOffers, offered);

  test('is noted with the users of these offers, and the pipelines that are undeployed for it', () => {
    expect(noteWithdrawn(used, ['dns'])).toEqual([
      'its file withdraws vpc, which is used by 3 deploys of other pipelines: auth/deploy, shop/deploy and shop/web; Conveyor now undeploys shop, as the wish says (onWithdraw: undeploy), unless the offer is back in the file before',
    ]);
    const many = Array.from({ length: 12 }, (_, n) => useBy(`p${n}/deploy`)).reduce(pinOffers, offered);
    expect(noteWithdrawn(many, [])).toEqual([expect.stringMatching(/: p0\/deploy, .* and 2 more$/)]);
  });

  test('is not noted if nothing uses them, if they are withdrawn already, or if there are none', () => {
    expect(noteWithdrawn(offered, [])).toEqual([]);
    expect(noteWithdrawn(used, ['vpc', 'dns'])).toEqual([]);
    expect(noteWithdrawn(declareOffers(used, []), [])).toEqual([]);
    expect(noteWithdrawn(null, [])).toEqual([]);
  });
});
