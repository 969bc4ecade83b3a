import { pickDeployedInputs, findUnsigned } from '../../../domain/access/signatureRule';
import { unfitArtifact } from '../../../domain/excess';
import type { Artifact } from '../../../domain/artifact';
import { parseRegistry } from '../../../settings/registry';
import { asked, CONFIG, facts, why } from '../../builders/accessWorld';
import { specOf } from '../../builders/pipelineWorld';
import { artifact, envelope, signature, signed, signer, statement } from '../../builders/signing';

const [ci, release, stranger] = [signer(), signer('p256'), signer()];
const PLATFORM = { admins: ['user:root'], keys: { ci: ci.pem, release: release.pem } };

/** Why a pipeline that is protected must not deploy it. */
function refusal(one: Artifact, rule: object = { by: ['ci', 'release'] }, pipeline = 'prod-kv'): string | undefined {
  const platform = facts({ ...PLATFORM, protection: [{ pipelines: ['prod-*'], signed: rule }] });
  return findUnsigned(platform, { pipeline }, [one])?.message;
}

describe('an artifact is signed', () => {
  test.each([
    ['with a key of Ed25519', signed('kv:12', ci)],
    ['with a key of ECDSA P-256', signed('kv:12', release)],
    ['with several keys', signed('kv:12', ci, release)],
    ['with a known key beside an unknown one', signed('kv:12', stranger, ci)],
    ['for this pipeline alone', artifact('kv:12', envelope(statement('prod-kv/executable@kv:12'), [ci]))],
    [
      'as one of several subjects',
      artifact(
        'kv:12',
        envelope({ ...statement('a@1'), subject: [{ name: 'a@1' }, { name: 'executable@kv:12' }] }, [ci]),
      ),
    ],
    [
      'with its digest, as one of several',
      artifact('kv:12', envelope(statement('executable@kv:12', { sha512: 'c'.repeat(128), sha256: 'AB' }), [ci]), {
        digest: 'sha256:ab',
      }),
    ],
    [
      'by one of several attestations',
      artifact('kv:12', undefined, {
        metadata: { attestation: 'no', 'attestation.ci': envelope(statement('executable@kv:12'), [ci]) },
      }),
    ],
  ])('%s', (_how, one) => {
    expect(refusal(one)).toBeUndefined();
    expect(unfitArtifact(one)).toBeUndefined();
  });

  test('with the encodings of ECDSA that the Web Crypto API and others write, and either alphabet of base64', () => {
    const payload = Buffer.from(JSON.stringify(statement('executable@kv:12')));
    const sig = signature(release, payload, { dsaEncoding: 'ieee-p1363' }).toString('base64url');
    const text = JSON.stringify({
      payloadType: 'application/vnd.in-toto+json',
      payload: payload.toString('base64url'),
      signatures: [{ sig }],
    });
    expect(refusal(artifact('kv:12', text))).toBeUndefined();
  });

  test('by two, in one attestation or in two, where a rule wants two', () => {
    const two = { by: ['ci', 'release'], count: 2 };
    const about = statement('executable@kv:12');
    const apart = { attestation: envelope(about, [ci]), 'attestation.release': envelope(about, [release]) };
    expect(refusal(signed('kv:12', ci, release), two)).toBeUndefined();
    expect(refusal(artifact('kv:12', undefined, { metadata: apart }), two)).toBeUndefined();
    expect(refusal(signed('kv:12', ci), two)).toBe(
      'platform.protection.0 protects prod-kv: executable@kv:12 is not signed: it takes a signature of 2 of the keys ci, release and has that of ci',
    );
  });
});

const GOOD = JSON.parse(signed('kv:12', ci).metadata['attestation'] ?? '') as Record<string, unknown>;
const changed = (over: object): Artifact => artifact('kv:12', JSON.stringify({ ...GOOD, ...over }));
const about = (text: unknown): Artifact => artifact('kv:12', envelope(text as object, [ci]));

describe('is refused in words:', () => {
  test.each([
    ['nothing', artifact('kv:12'), 'its metadata has no attestation'],
    [
      'the signature of another version',
      artifact('kv:13', signed('kv:12', ci).metadata['attestation']),
      'metadata.attestation: it is about executable@kv:12, and not about executable@kv:13',
    ],
    [
      'that of another artifact',
      artifact('kv:12', signed('kv:12', ci).metadata['attestation'], { name: 'config' }),
      'it is about executable@kv:12, and not about config@kv:12',
    ],
    [
      'that for another pipeline',
      about(statement('web/executable@kv:12')),
      'it is about web/executable@kv:12, and not about executable@kv:12',
    ],
    [
      'that of another content',
      artifact('kv:12', envelope(statement('executable@kv:12', { sha256: 'aa' }), [ci]), { digest: 'sha256:bb' }),
      'it is about executable@kv:12 with sha256:aa, and this one has sha256:bb',
    ],
    [
      'an artifact whose digest was taken away',
      about(statement('executable@kv:12', { sha256: 'aa' })),
      'with sha256:aa, and this one has no digest',
    ],
    [
      'an artifact with a digest that nobody signed',
      artifact('kv:12', signed('kv:12', ci).metadata['attestation'], { digest: 'sha256:bb' }),
      'with no digest, and this one has sha256:bb',
    ],
    ['a key that nobody knows', signed('kv:12', stranger), 'a signature (keyid k) is by none of the platform'],
    [
      'a payload that was changed',
      changed({ payload: Buffer.from(JSON.stringify(statement('executable@kv:13'))).toString('base64') }),
      'or for other content',
    ],
    [
      'a signature over another type',
      artifact(
        'kv:12',
        envelope(statement('executable@kv:12'), [ci], 'text/plain').replace(
          'text/plain',
          'application/vnd.in-toto+json',
        ),
      ),
      'or for other content',
    ],
    [
      'another payloadType',
      changed({ payloadType: 'text/plain' }),
      'payloadType: expected application/vnd.in-toto+json',
    ],
    ['base64 that is none', changed({ payload: 'e30=!' }), 'payload: expected base64'],
    ['a signature that is none', changed({ signatures: [{ sig: '%%' }] }), 'signatures.0.sig: expected base64'],
    ['no signature', changed({ signatures: [] }), 'signatures: Too small'],
    ['no JSON', artifact('kv:12', 'no'), 'it is not a DSSE envelope: no JSON'],
    ['null', artifact('kv:12', 'null'), 'it is not a DSSE envelope: (top)'],
    [
      'a megabyte',
      artifact('kv:12', 'x'.repeat(1024 * 1024)),
      'it takes 1024 kB, and an entry of metadata 1 kB at most',
    ],
    [
      'a payload that is not a Statement',
      about({ hello: 'world' }),
      'it is not an in-toto Statement: _type: expected https://in-toto.io/Statement/v1',
    ],
    ['a Statement about nothing', about({ ...statement('x'), subject: [] }), 'it is not an in-toto Statement: subject'],
    ['one without a predicate', about({ ...statement('executable@kv:12'), predicateType: '' }), 'predicateType'],
    [
      'a verification that failed',
      about({ ...statement('executable@kv:12'), predicate: { verificationResult: 'FAILED' } }),
      'its predicate has verificationResult FAILED, and not PASSED',
    ],
    [
      'a verification of before that failed',
      about({
        ...statement('executable@kv:12'),
        predicateType: 'https://slsa.dev/verification_summary/v0.2',
        predicate: { verification_result: 'FAILED' },
      }),
      'FAILED, and not PASSED',
    ],
    [
      'a verification that does not say whether it passed',
      about({ ...statement('executable@kv:12'), predicate: {} }),
      'its predicate has no verificationResult, and not PASSED',
    ],
    [
      'tests that passed with warnings',
      about({
        ...statement('executable@kv:12'),
        predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
        predicate: { result: 'WARNED' },
      }),
      'its predicate has result WARNED, and not PASSED',
    ],
    [
      'names that steer a terminal',
      about(statement('\u001b[2J\nevil')),
      'it is about \\u001b[2J evil, and not about executable@kv:12',
    ],
  ])('%s', (_what, one, words) => {
    const said = refusal(one);
    expect(said).toContain('platform.protection.0 protects prod-kv: ');
    expect(said).toContain('it takes a signature of 1 of the keys ci, release and has none');
    expect(said).toContain(words);
  });

  test('a predicate of another type is its own business', () => {
    const other = { predicateType: 'https://example.org/agreed/v1', predicate: { verificationResult: 'FAILED' } };
    expect(refusal(about({ ...statement('executable@kv:12'), ...other }))).toBeUndefined();
    const tested = {
      predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
      predicate: { result: 'PASSED' },
    };
    expect(refusal(about({ ...statement('executable@kv:12'), ...tested }))).toBeUndefined();
  });

  test('two signatures of one key are those of one', () => {
    expect(refusal(signed('kv:12', ci, ci), { by: ['ci', 'release'], count: 2 })).toMatch(
      /has that of ci; metadata\.attestation: ci has signed it twice, which counts once$/,
    );
  });

  test('many attestations that count for nothing, of which the first are named', () => {
    const metadata = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`attestation.${at}`, 'no']));
    expect(refusal(artifact('kv:12', undefined, { metadata }))).toMatch(
      /(metadata\.attestation\.\d+: [^;]*; ){3}and 27 more$/,
    );
  });

  test('a key that a rule names twice is one key', () => {
    expect(refusal(signed('kv:12', ci), { by: ['ci', 'ci', 'release'], count: 2 })).toMatch(/has that of ci$/);
  });

  test('a key that this rule does not name counts for nothing', () => {
    expect(refusal(signed('kv:12', ci), { by: ['release'] })).toMatch(
      /it takes a signature of the key release and has none; ci counts for nothing here$/,
    );
  });

  test('everything, where the configuration has rules and its keys are gone', () => {
    const { signers: _gone, ...rest } = parseRegistry(
      { platform: { ...PLATFORM, protection: [{ pipelines: ['*'], signed: { by: ['ci'] } }] } },
      {},
    );
    expect(findUnsigned(rest, { pipeline: 'kv' }, [signed('kv:12', ci)])?.message).toMatch(/the platform has no keys/);
  });

  test('pipelines that no rule protects deploy what they like', () => {
    expect(refusal(artifact('kv:12'), undefined, 'kvstore')).toBeUndefined();
  });
});

describe('platform.keys of the configuration', () => {
  const parsed = (keys: object, rule: object = { by: ['ci'] }) =>
    parseRegistry({ platform: { admins: ['user:root'], keys, protection: [{ pipelines: ['*'], signed: rule }] } }, {});
  const rsa =
    '-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf\n9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit+CqvjWYzvQwECAwEAAQ==\n-----END PUBLIC KEY-----\n';

  test.each([
    ['a private key', { ci: '-----BEGIN PRIVATE KEY-----' }, {}, /platform\.keys\.ci: this is a private key/],
    ['no PEM', { ci: 'ssh-ed25519 AAAA' }, {}, /platform\.keys\.ci: expected a public key in PEM: -----BEGIN/],
    ['a broken one', { ci: '-----BEGIN PUBLIC KEY-----\nAA' }, {}, /platform\.keys\.ci: .*cannot be read/],
    ['RSA', { ci: rsa }, {}, /expected a key of Ed25519 or ECDSA P-256; this one is rsa/],
    ['one key twice', { ci: ci.pem, two: ci.pem }, {}, /platform\.keys\.two: it is the same key as ci/],
    ['a rule with an unknown key', { ci: ci.pem }, { by: ['c1'] }, /protection\.0\.signed\.by: there is no key c1/],
    ['more than there are', { ci: ci.pem }, { by: ['ci', 'ci'], count: 2 }, /signed\.count: nothing is signed with 2/],
    ['a rule without keys', { ci: ci.pem }, { by: [] }, /expected at least one key/],
    ['a long text', { ci: 'x'.repeat(1025) }, {}, /platform\.keys\.ci: Too big/],
    [
      'many keys',
      Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`k${at}`, signer().pem])),
      { by: ['k0'] },
      /expected at most 50 keys/,
    ],
  ])('%s is refused with its place', (_what, keys, rule, message) => {
    expect(() => parsed(keys, { by: ['ci'], ...rule })).toThrow(message);
  });

  test('a rule that only wants signatures protects from something', () => {
    expect(parsed({ ci: ci.pem }).warnings.join()).not.toMatch(/requires nothing/);
  });
});

test('only what a deploy or canary takes as it is given has to be signed as it is given', () => {
  const given = [signed('kv:12', ci), artifact('1a2b', undefined, { name: 'source' })];
  const spec = specOf();
  expect(pickDeployedInputs(spec, given)).toEqual(given.slice(0, 1));
  const build = { type: 'build' as const, inputs: ['source'], outputs: ['executable'] };
  const built = { ...spec.actions, ...specOf([], { actions: { build } }).actions };
  expect(pickDeployedInputs({ ...spec, actions: built }, given)).toEqual([]);
});

test('books say what ran, so importing them into a pipeline whose deploys are signed is for admins', () => {
  const platform = {
    ...{ ...CONFIG.platform, ...PLATFORM },
    protection: [{ pipelines: ['kvstore'], signed: { by: ['ci'] } }],
  };
  expect(why(asked('user:alice', 'import', {}, facts(platform)))).toMatch(
    /^platform\.protection\.0 protects kvstore, .*: import is for admins/,
  );
  expect(why(asked('user:root', 'import', {}, facts(platform)))).toMatch(/^yes/);
  expect(why(asked('user:alice', 'apply', {}, facts(platform)))).toMatch(/^yes/);
});
