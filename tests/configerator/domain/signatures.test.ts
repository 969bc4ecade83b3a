import { judgeSignatures } from '../../../configerator/domain/signatures';

const sealed = { what: 'the value', isSealed: true };
const bare = { what: 'the value', isSealed: false };
const forged = { what: 'the override x', isSealed: true, fault: 'it is not signed' };

test.each([
  ['all signed, and checked', [sealed, sealed], true, 'signed'],
  ['all signed, and no key here', [sealed], false, 'unchecked'],
  ['one without a signature, and no key here', [sealed, bare], false, 'unsigned'],
  ['one that cannot be believed', [sealed, forged], true, 'untrusted'],
  ['one that cannot be believed, also without a key', [bare, forged], false, 'untrusted'],
  ['nothing', [], true, 'absent'],
] as const)('among records of a path, %s', (_, records, isChecked, state) => {
  const faults = state === 'untrusted' ? [{ what: 'the override x', why: 'it is not signed' }] : [];
  expect(judgeSignatures(records, isChecked)).toEqual({ state, faults, more: 0 });
});

test('twenty of any number of forged records are named, and the others counted', () => {
  const { state, faults, more } = judgeSignatures(Array(1000).fill(forged), true);
  expect([state, faults.length, more]).toEqual(['untrusted', 20, 980]);
});
