import { STATE_LIMITS } from '../../domain/limits';
import { whyNotBelieved, withProof, type Proof, type Proofs } from '../../domain/proof';

const proof = (id: string, atMs = 1): Proof => ({ verb: 'pause', id, atMs });
const full = Array.from({ length: STATE_LIMITS.proofs.max }, (_, at) => proof(`p${at}`, 100 + at)).reduce<Proofs>(
  withProof,
  [],
);

test('a request is taken once, and as nothing else', () => {
  expect(whyNotBelieved([], 'pause', proof('a'))).toBeUndefined();
  expect(whyNotBelieved(withProof([], proof('a')), 'pause', proof('a'))).toBe(
    'this was asked for once, and has been taken',
  );
  expect(whyNotBelieved([], 'cancel', proof('a'))).toBe('this was asked for as pause, not as cancel');
});

test('without a maker of proofs none is missed', () =>
  expect(whyNotBelieved(full, 'pause', undefined)).toBeUndefined());

test('a request older than all that is remembered may have been taken, and is refused', () => {
  expect(whyNotBelieved(full, 'pause', proof('old', 99))).toMatch('too long ago');
  expect(whyNotBelieved(full, 'pause', proof('late', 101))).toBeUndefined();
  expect(whyNotBelieved(full.slice(1), 'pause', proof('old', 99))).toBeUndefined();
});

test('as many as its limit are remembered, the newest by when they were asked for', () => {
  const more = withProof(full, proof('new', 1_000));
  expect(more).toHaveLength(STATE_LIMITS.proofs.max);
  expect(more[0]).toEqual({ id: 'p1', atMs: 101 });
  expect(withProof(more, proof('late', 102)).at(-1)).toEqual({ id: 'new', atMs: 1_000 });
});
