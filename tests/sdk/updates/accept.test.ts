import { Memory, newSlot } from '../../../sdk/updates/memory';
import { acceptUpdate } from '../../../sdk/updates/updates';

/** A fleet with one unit of two tasks, and one version. */
function given() {
  const { state } = new Memory(null);
  state.units['eu'] = { version: 'v1', update: null, starts: [], slots: [newSlot('v1', null), newSlot('v1', null)] };
  return { state, copies: { hasVersion: (version: string) => version === 'v2' } };
}

const target = (unit: string, version = 'v2') => ({ unit, version, artifacts: [], amount: { all: true as const } });
const request = (...targets: ReturnType<typeof target>[]) => ({
  ...{ updateId: 'deploy/web/2/deploy/1/0/1', targets, wholeUnit: false, urgency: 'normal' as const },
});

test.each([
  ['a unit that the fleet does not have', [target('eu'), target('us')], { code: 'unknown-unit', status: 404 }],
  ['a version that does not exist', [target('eu', 'v9')], { code: 'unknown-version', status: 404 }],
  ['a unit that is named twice', [target('eu'), target('eu')], { code: 'invalid-request', status: 400 }],
])('an update of %s is refused before anything has changed', (_, targets, refusal) => {
  const fleet = given();
  const before = structuredClone(fleet.state);
  const held = { service: 'web', fence: 7 };
  expect(() => acceptUpdate(fleet, request(...targets), held)).toThrow(expect.objectContaining(refusal));
  expect(fleet.state).toEqual(before);
});

test('an update is accepted with the slots that it means', () => {
  const fleet = given();
  acceptUpdate(fleet, request(target('eu')));
  expect(fleet.state.updates['deploy/web/2/deploy/1/0/1']?.units).toEqual({
    eu: { version: 'v2', slots: [0, 1], state: 'active' },
  });
});
