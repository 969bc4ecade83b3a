import { busyWith, pendingSlots, progressOf, slotsOf } from '../../../sdk/updates/choose';
import { Memory, newSlot, type Slot } from '../../../sdk/updates/memory';
import { acceptRemoval, beginStops, endStops, describeUnit } from '../../../sdk/updates/removals';
import { acceptUpdate, commandUpdate } from '../../../sdk/updates/updates';

const DEPLOY = 'deploy/web/3/deploy/1';
const REMOVAL = `${DEPLOY}/remove/1`;
const NEXT = 'deploy/web/4/deploy/1';

/** A fleet with two units of three tasks, all live on `v1`, each started twice. */
function given() {
  const { state } = new Memory(null);
  const live = (): Slot => ({ ...newSlot('v1'), state: 'live', start: 2 });
  for (const unit of ['eu', 'us'])
    state.units[unit] = { version: 'v1', update: null, starts: [2, 2, 2], slots: [live(), live(), live()] };
  return { state, copies: { hasVersion: () => true } };
}
type Fleet = ReturnType<typeof given>;

const target = (rest: object = { amount: { all: true as const } }) => ({
  unit: 'eu',
  version: 'v2',
  artifacts: [],
  ...rest,
});
const update = (fleet: Fleet, updateId: string, rest?: object) =>
  acceptUpdate(fleet, { updateId, targets: [target(rest)], wholeUnit: true, urgency: 'normal' });
function stopAll(fleet: Fleet, id = REMOVAL): void {
  beginStops(fleet.state, 'eu', id);
  endStops(fleet.state, 'eu', id);
}
function startAll({ state }: Fleet, id: string): void {
  const { slots = [] } = state.units['eu'] ?? {};
  for (const index of pendingSlots(state, 'eu', id))
    Object.assign(slots[index] ?? {}, { version: 'v2', update: id, state: 'live' });
}
const removal = { updateId: REMOVAL, units: ['eu'] };

test('a removal stops every task and forgets it once it has ended, and the other unit keeps its tasks', () => {
  const fleet = given();
  acceptRemoval(fleet, removal);
  expect(progressOf(fleet.state, 'eu', REMOVAL)).toMatchObject({ state: 'pending', targeted: 3, gone: 0 });
  expect(beginStops(fleet.state, 'eu', REMOVAL)).toEqual([0, 1, 2]);
  expect(progressOf(fleet.state, 'eu', REMOVAL)).toMatchObject({ state: 'updating', gone: 0, live: 0, updated: 0 });
  expect(describeUnit(fleet.state, 'eu')).toMatchObject({ size: 3, version: 'v1' });
  endStops(fleet.state, 'eu', REMOVAL);
  expect(progressOf(fleet.state, 'eu', REMOVAL)).toMatchObject({ state: 'done', targeted: 3, gone: 3 });
  expect(describeUnit(fleet.state, 'eu')).toEqual({ size: 0, version: null, mixed: false });
  expect(describeUnit(fleet.state, 'us')).toEqual({ size: 3, version: 'v1', mixed: false });
});

test('a removal without units changes nothing', () => {
  const fleet = given();
  const before = structuredClone(fleet.state);
  acceptRemoval(fleet, { updateId: REMOVAL, units: [] }, { service: 'web', fence: 7 });
  expect(fleet.state).toEqual(before);
});

test.each([
  ['a unit that the fleet does not have', ['eu', 'asia'], { code: 'unknown-unit', status: 404 }],
  ['a unit that is named twice', ['eu', 'eu'], { code: 'invalid-request', status: 400 }],
  ['a unit that another deploy is updating', ['eu', 'us'], { code: 'unit-busy', status: 409 }],
])('a removal of %s is refused before anything has changed', (_, units, refusal) => {
  const fleet = given();
  acceptUpdate(fleet, {
    ...{ updateId: `${NEXT}/0/1`, wholeUnit: false, urgency: 'normal' },
    targets: [{ ...target(), unit: 'us' }],
  });
  const before = structuredClone(fleet.state);
  const held = { service: 'web', fence: 7 };
  expect(() => acceptRemoval(fleet, { updateId: REMOVAL, units }, held)).toThrow(expect.objectContaining(refusal));
  expect(fleet.state).toEqual(before);
});

test('a removal with a lower fence than one that was seen is refused, as is one that was cancelled before it came', () => {
  const fleet = given();
  fleet.state.fences = { web: 9 };
  const held = { service: 'web', fence: 8 };
  expect(() => acceptRemoval(fleet, removal, held)).toThrow(expect.objectContaining({ code: 'fenced' }));
  commandUpdate(fleet, 'cancel', { updateId: REMOVAL });
  expect(() => acceptRemoval(fleet, removal)).toThrow(expect.objectContaining({ code: 'cancelled' }));
});

test('a removed unit comes back with the tasks that it had, under starts that were never used, and its removal stays done', () => {
  const fleet = given();
  acceptRemoval(fleet, removal);
  stopAll(fleet);
  expect(slotsOf(fleet.state, target())).toHaveLength(3);
  update(fleet, `${NEXT}/0/1`);
  expect(progressOf(fleet.state, 'eu', `${NEXT}/0/1`)).toMatchObject({ targeted: 3, updated: 0, live: 0, failed: 0 });
  expect(fleet.state.units['eu']).toMatchObject({ version: 'v2', starts: [2, 2, 2] });
  startAll(fleet, `${NEXT}/0/1`);
  expect(progressOf(fleet.state, 'eu', `${NEXT}/0/1`)).toMatchObject({ targeted: 3, updated: 3, live: 3 });
  expect(describeUnit(fleet.state, 'eu')).toEqual({ size: 3, version: 'v2', mixed: false });
  expect(progressOf(fleet.state, 'eu', REMOVAL)).toMatchObject({ state: 'done', targeted: 3, gone: 3 });
  acceptRemoval(fleet, removal);
  expect(pendingSlots(fleet.state, 'eu', REMOVAL)).toHaveLength(3);
  expect(beginStops(fleet.state, 'eu', REMOVAL)).toEqual([]);
});

test('an update of some tasks of a removed unit finds none, and needsPush agrees', () => {
  const fleet = given();
  acceptRemoval(fleet, removal);
  stopAll(fleet);
  for (const amount of [{ count: 2 }, { percent: 50 }]) expect(slotsOf(fleet.state, target({ amount }))).toEqual([]);
  acceptUpdate(fleet, {
    ...{ updateId: `${NEXT}/0/1`, wholeUnit: false, urgency: 'normal' },
    targets: [target({ amount: { count: 2 } })],
  });
  expect(describeUnit(fleet.state, 'eu')).toEqual({ size: 0, version: null, mixed: false });
});

test('the size that a removed unit has to have is the one with which it comes back', () => {
  const fleet = given();
  acceptRemoval(fleet, removal);
  stopAll(fleet);
  fleet.state.units['eu']!.removed!.size = 5;
  update(fleet, `${NEXT}/0/1`);
  expect(describeUnit(fleet.state, 'eu').size).toBe(5);
});

test('a removal that is paused or cancelled takes no further tasks, and those in flight end', () => {
  const fleet = given();
  acceptRemoval(fleet, removal);
  commandUpdate(fleet, 'pause', { updateId: REMOVAL });
  expect(beginStops(fleet.state, 'eu', REMOVAL)).toEqual([]);
  expect(progressOf(fleet.state, 'eu', REMOVAL)).toMatchObject({ state: 'paused', gone: 0 });
  commandUpdate(fleet, 'resume', { updateId: REMOVAL });
  expect(beginStops(fleet.state, 'eu', REMOVAL)).toHaveLength(3);
  commandUpdate(fleet, 'cancel', { updateId: REMOVAL });
  expect(progressOf(fleet.state, 'eu', REMOVAL)).toMatchObject({ state: 'updating' });
  endStops(fleet.state, 'eu', REMOVAL);
  expect(progressOf(fleet.state, 'eu', REMOVAL)).toMatchObject({ state: 'failed', gone: 3 });
  expect(busyWith(fleet.state, `${NEXT}/0/1`, { unit: 'eu' })).toBeUndefined();
});

test('an update that brings a unit back while its tasks are stopped loses none of the new ones', () => {
  const fleet = given();
  acceptRemoval(fleet, removal);
  beginStops(fleet.state, 'eu', REMOVAL);
  commandUpdate(fleet, 'cancel', { updateId: REMOVAL });
  update(fleet, `${NEXT}/0/1`);
  endStops(fleet.state, 'eu', REMOVAL);
  startAll(fleet, `${NEXT}/0/1`);
  expect(describeUnit(fleet.state, 'eu')).toEqual({ size: 3, version: 'v2', mixed: false });
  expect(progressOf(fleet.state, 'eu', `${NEXT}/0/1`)).toMatchObject({ targeted: 3, live: 3, gone: 0 });
});

test('a removal ends an earlier update of its own deploy, and may come again from a later deploy', () => {
  const fleet = given();
  update(fleet, `${DEPLOY}/0/1`);
  acceptRemoval(fleet, removal);
  expect(fleet.state.updates[`${DEPLOY}/0/1`]?.units['eu']).toMatchObject({ state: 'ended' });
  stopAll(fleet);
  acceptRemoval(fleet, { updateId: `${NEXT}/remove/1`, units: ['eu'] });
  expect(progressOf(fleet.state, 'eu', `${NEXT}/remove/1`)).toMatchObject({ state: 'done', targeted: 0, gone: 0 });
});

test('a revert of the update that brought a unit back takes all of its tasks, also those that had not begun', () => {
  const fleet = given();
  acceptRemoval(fleet, removal);
  stopAll(fleet);
  update(fleet, `${NEXT}/0/1`);
  const [slot] = fleet.state.units['eu']!.slots;
  Object.assign(slot!, { version: 'v2', state: 'down' });
  const back = { unit: 'eu', version: 'v1', artifacts: [], updatedBy: [`${NEXT}/0/1`] };
  acceptUpdate(fleet, { updateId: `${NEXT}/revert/1`, targets: [back], wholeUnit: false, urgency: 'revert' });
  expect(pendingSlots(fleet.state, 'eu', `${NEXT}/revert/1`)).toEqual([0, 1, 2]);
  expect(describeUnit(fleet.state, 'eu').version).toBe('v1');
});
