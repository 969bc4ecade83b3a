import { SESSION_LIMITS } from '../../../domain/limits';
import type { Session } from '../../../domain/sessions/session';
import { SignedOut } from '../../../server/sessions/signedOut';
import { FakeSignOuts } from '../../builders/sessionWorld';

let nowMs = 0;
const session = (id: string): Session => ({
  ...{ id, principal: 'user:alice', groups: [], proof: { kind: 'development' }, after: null },
  ...{ signedInAtMs: 0, confirmedAtMs: 0, untilMs: 1 },
});

test('a thousand requests of one session within five seconds cost two looks', async () => {
  const signOuts = new FakeSignOuts();
  const book = new SignedOut(signOuts, () => nowMs);
  await Promise.all(Array.from({ length: 500 }, () => book.has(session('a'), 'soon')));
  for (let times = 0; times < 500; times += 1) await book.has(session('a'), 'soon');
  expect(signOuts.finds).toBe(2);
  nowMs += 5_000;
  await book.has(session('a'), 'soon');
  expect(signOuts.finds).toBe(4);
});

test('a look that began before a sign-out and ends after it does not bring the session back', async () => {
  const signOuts = new FakeSignOuts();
  const ask = signOuts.find.bind(signOuts);
  const book = new SignedOut(signOuts, () => nowMs);
  const late: (() => void)[] = [];
  signOuts.find = () => new Promise((resolve) => late.push(() => resolve(null)));
  const before = book.has(session('a'), 'now');
  signOuts.find = ask;
  await book.end(session('a'));
  late.forEach((give) => give());
  expect(await before).toBe(false);
  expect(await book.has(session('a'), 'soon')).toBe(true);
});

test('memory has a limit: sessions that were not seen for long are looked up again', async () => {
  const signOuts = new FakeSignOuts();
  const book = new SignedOut(signOuts, () => nowMs);
  for (let at = 0; at <= SESSION_LIMITS.looks.max; at += 1) await book.has(session(`s${at}`), 'soon');
  await book.has(session('last'), 'soon');
  const before = signOuts.finds;
  await book.has(session('last'), 'soon');
  expect(signOuts.finds).toBe(before);
  await book.has(session('s0'), 'soon');
  expect(signOuts.finds).toBe(before + 1);
});
